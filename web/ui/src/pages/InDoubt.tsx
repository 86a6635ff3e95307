import { Page } from "@/parts/Page";

export default function InDoubt() {
  return <Page title="InDoubt">{null}</Page>;
}
