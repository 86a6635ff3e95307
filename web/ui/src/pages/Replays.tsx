import { Page } from "@/parts/Page";

export default function Replays() {
  return <Page title="Replays">{null}</Page>;
}
