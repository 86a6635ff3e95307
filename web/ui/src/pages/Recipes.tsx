import { Page } from "@/parts/Page";

export default function Recipes() {
  return <Page title="Recipes">{null}</Page>;
}
