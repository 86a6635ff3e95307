import { Page } from "@/parts/Page";

export default function Records() {
  return <Page title="Records">{null}</Page>;
}
