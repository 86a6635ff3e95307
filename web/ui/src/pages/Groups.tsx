import { Page } from "@/parts/Page";

export default function Groups() {
  return <Page title="Groups">{null}</Page>;
}
