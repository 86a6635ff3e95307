import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, background, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { type Filter, meaningsOf } from "./filter";

/**
 * The causes of unresolved records, kept up to date: for the list of causes, the counts beside filters and what
 * a detail means. Only format and age are asked of the server, the rest of a filter is looked for here.
 */
export function useGroups(filter: Filter = {}): UseQueryResult<Schemas["GroupList"]> {
  const { may } = useSession();
  const query = { format: filter.format, older_than: filter.older_than, limit: 1000 };
  return useQuery({
    queryKey: ["groups", query],
    queryFn: () => got(api.GET("/v1/groups", { params: { query }, headers: background })),
    refetchInterval: 15_000,
    enabled: may("groups.read"),
    placeholderData: (before) => before,
  });
}

const none: Schemas["Group"][] = [];

/** What details mean in words, as far as unresolved records have them. */
export function useMeanings(): Record<string, string> {
  const groups = useGroups().data?.groups ?? none;
  return useMemo(() => meaningsOf(groups), [groups]);
}
