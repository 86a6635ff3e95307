import { Page } from "@/parts/Page";

export default function Approvals() {
  return <Page title="Approvals">{null}</Page>;
}
