import { Page } from "@/parts/Page";

export default function Audit() {
  return <Page title="Audit">{null}</Page>;
}
