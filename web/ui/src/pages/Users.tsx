import { Page } from "@/parts/Page";

export default function Users() {
  return <Page title="Users">{null}</Page>;
}
