import { Component, type ReactNode, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { Loading } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { LiveOverview } from "./live";
import { pages } from "./routes";
import { Shell } from "./Shell";

export function App() {
  const [at] = useLocation();
  return (
    <LiveOverview>
      <Shell>
        <Boundary at={at}>
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

/**
 * Keeps a page that has failed from taking the others with it. A page whose code could not be fetched, as while
 * the server is started anew, stays failed until the browser loads it again. What it failed with is not logged: it may hold a value.
 */
class Boundary extends Component<{ at: string; children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  override componentDidUpdate(before: { at: string }) {
    if (this.state.failed && before.at !== this.props.at) this.setState({ failed: false });
  }
  override render() {
    if (!this.state.failed) return this.props.children;
    return <Failure error={new Error()} onRetry={() => location.reload()} />;
  }
}
