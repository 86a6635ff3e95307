import { Page } from "@/parts/Page";

export default function Account() {
  return <Page title="Account">{null}</Page>;
}
