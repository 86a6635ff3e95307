import { Page } from "@/parts/Page";

export default function Recipe() {
  return <Page title="Recipe">{null}</Page>;
}
