import { Page } from "@/parts/Page";

export default function Parked() {
  return <Page title="Parked">{null}</Page>;
}
