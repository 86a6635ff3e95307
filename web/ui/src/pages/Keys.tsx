import { Page } from "@/parts/Page";

export default function Keys() {
  return <Page title="Keys">{null}</Page>;
}
