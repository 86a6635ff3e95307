import { Page } from "@/parts/Page";

export default function Sizing() {
  return <Page title="Sizing">{null}</Page>;
}
