import { Component, type ReactNode, Suspense } from "react";
import { Route, Switch } from "wouter";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { Loading } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { LiveOverview } from "./live";
import { pages } from "./routes";
import { Shell } from "./Shell";

export function App() {
  return (
    <LiveOverview>
      <Shell>
        <Boundary>
          <Suspense fallback={<Loading />}>
            <Switch>
              {pages.map(([path, P]) => (
                <Route key={path} path={path} component={P} />
              ))}
              <Route>
                <Page title="There is no such page">
                  <Empty title="Nothing is here">The way to every page is on the left.</Empty>
                </Page>
              </Route>
            </Switch>
          </Suspense>
        </Boundary>
      </Shell>
    </LiveOverview>
  );
}

/** Keeps a page that has failed from taking the others with it. What it failed with is not logged: it may hold a value. */
class Boundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  override render() {
    if (!this.state.failed) return this.props.children;
    return <Failure error={new Error()} onRetry={() => this.setState({ failed: false })} />;
  }
}
