import { Page } from "@/parts/Page";

export default function Claim() {
  return <Page title="Claim">{null}</Page>;
}
