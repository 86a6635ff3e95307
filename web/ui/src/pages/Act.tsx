import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useParams } from "wouter";
import { api, background, got } from "@/api/client";
import { useEvents } from "@/api/events";
import { acts, type Progress } from "@/parts/acts";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { Page } from "@/parts/Page";
import { forgetList } from "@/parts/useRecordList";
import { many } from "@/parts/words";
import { Items } from "./act/Items";
import { Planned } from "./act/Planned";
import { Running } from "./act/Running";
import { PlanCard } from "./replay/PlanCard";

export default function Act() {
  const { id } = useParams<{ id: string }>();
  return <Job key={id} id={id} />;
}

/** One act on many records: what was frozen, and where it stands. It is at the server, so that the page finds it as it is. */
function Job({ id }: { id: string }) {
  const [progress, show] = useState<Progress | null>(null);
  const events = useEvents<Progress>(`/v1/acts/${encodeURIComponent(id)}/events`, "progress", show);
  const q = useQuery({
    queryKey: ["act", id],
    queryFn: () => got(api.GET("/v1/acts/{id}", { params: { path: { id } }, headers: background })),
    // Events tell it at once; this is for when they do not come.
    refetchInterval: events.ended ? false : events.live ? 30_000 : 5_000,
  });
  useEffect(() => {
    if (q.data) show((now) => (now && now.seq > q.data.progress.seq ? now : q.data.progress));
  }, [q.data]);
  // Who goes back to a list finds the records as they have become.
  useEffect(forgetList, [progress?.seq]);
  return (
    <Page
      title={q.data ? `${acts[q.data.plan.act].title}: ${many(q.data.plan.items, "record")}` : `Act ${id}`}
      crumbs={[{ label: "Replays", href: "/replays" }]}
      about={
        q.data && (
          <Group gap="xs">
            <StateBadge state={(progress ?? q.data.progress).state} />
            <span className="mono">{id}</span>
          </Group>
        )
      }
    >
      <Await query={q} lines={8}>
        {({ plan, progress: first }) => {
          const p = progress ?? first;
          return (
            <>
              {p.state === "planned" ? <Planned plan={plan} p={p} onProgress={show} /> : <Running plan={plan} p={p} live={events.live} onProgress={show} />}
              <PlanCard plan={plan} />
              <Items plan={plan} p={p} />
            </>
          );
        }}
      </Await>
    </Page>
  );
}
