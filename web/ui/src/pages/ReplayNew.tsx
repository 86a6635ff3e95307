import { Page } from "@/parts/Page";

export default function ReplayNew() {
  return <Page title="ReplayNew">{null}</Page>;
}
