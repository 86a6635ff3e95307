import { Page } from "@/parts/Page";

export default function Replay() {
  return <Page title="Replay">{null}</Page>;
}
