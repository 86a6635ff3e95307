import { useQuery } from "@tanstack/react-query";
import { api, background, got, type Schemas } from "@/api/client";

/** How many other quarantined records have the record's cause. state is where the record itself is now. */
export function useOthers(r: Schemas["Record"], state = r.state): number {
  const q = useQuery({
    queryKey: ["groups", "same", r.id],
    queryFn: () =>
      got(
        api.GET("/v1/groups", {
          headers: background,
          params: { query: { state: "quarantined", detail: r.error_detail, partner: r.partner, stream: r.stream as "837" | "ncpdp", reason: r.reason_code as "FATAL_SYNTAX" } },
        }),
      ),
  });
  return Math.max(0, (q.data?.records ?? 0) - (state === "quarantined" ? 1 : 0));
}
