import { Page } from "@/parts/Page";

export default function Alarms() {
  return <Page title="Alarms">{null}</Page>;
}
