import { Page } from "@/parts/Page";

export default function Record() {
  return <Page title="Record">{null}</Page>;
}
