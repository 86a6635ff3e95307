import { Page } from "@/parts/Page";

export default function Switches() {
  return <Page title="Switches">{null}</Page>;
}
