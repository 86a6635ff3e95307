import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "./Failure";
import { LoadingLines } from "./Loading";

/** Shows what a query brought; until then that it loads, or why it cannot. What was there stays while it is read anew. */
export function Await<T>({ query, children, lines }: { query: UseQueryResult<T>; children: (data: T) => ReactNode; lines?: number }) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && <Failure error={query.error} onRetry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    );
  }
  if (query.isError) return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  return <LoadingLines lines={lines} />;
}
