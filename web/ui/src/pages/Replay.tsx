import { Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useParams } from "wouter";
import { api, background, got } from "@/api/client";
import { useEvents } from "@/api/events";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { Page } from "@/parts/Page";
import { Section } from "@/parts/Section";
import { many } from "@/parts/words";
import { Items, type Which } from "./replay/Items";
import { PlanCard } from "./replay/PlanCard";
import { Ready } from "./replay/Ready";
import { Running } from "./replay/Running";
import type { Plan, Progress } from "./replay/say";

export default function Replay() {
  const { id } = useParams<{ id: string }>();
  return <Job key={id} id={id} />;
}

function Job({ id }: { id: string }) {
  const [progress, show] = useState<Progress | null>(null);
  const events = useEvents<Progress>(`/v1/replays/${encodeURIComponent(id)}/events`, "progress", show);
  const q = useQuery({
    queryKey: ["replay", id],
    queryFn: () => got(api.GET("/v1/replays/{id}", { params: { path: { id } }, headers: background })),
    // Events tell it at once; this is for when they do not come.
    refetchInterval: events.ended ? false : events.live ? 30_000 : 5_000,
  });
  useEffect(() => {
    if (q.data) show(q.data.progress);
  }, [q.data]);
  const p = progress ?? q.data?.progress;
  return (
    <Page
      title={`Replay ${id}`}
      crumbs={[{ label: "Replays", href: "/replays" }]}
      about={
        p && (
          <Group gap="xs">
            <StateBadge state={p.state} />
            <span>{p.state === "planned" ? `${many(p.items, "record")} frozen; nothing is released yet` : many(p.items, "record")}</span>
          </Group>
        )
      }
    >
      <Await query={q} lines={8}>
        {(d) => <Parts plan={d.plan} p={progress ?? d.progress} live={events.live} onProgress={show} />}
      </Await>
    </Page>
  );
}

function Parts({ plan, p, live, onProgress }: { plan: Plan; p: Progress; live: boolean; onProgress: (p: Progress) => void }) {
  const [which, setWhich] = useState<Which | null>(null);
  const items = useRef<HTMLDivElement>(null);
  const look = (w: Which | null) => setWhich(w);
  const lookFrom = (w: Which) => {
    setWhich(w);
    items.current?.scrollIntoView({ block: "start" });
  };
  return (
    <>
      {p.state === "planned" ? <Ready plan={plan} p={p} onProgress={onProgress} onWhich={lookFrom} /> : <Running plan={plan} p={p} live={live} onProgress={onProgress} onWhich={lookFrom} />}
      <PlanCard plan={plan} />
      <div ref={items}>
        <Section title="Record by record">
          <Items plan={plan} progress={p} which={which} onWhich={look} />
        </Section>
      </div>
    </>
  );
}
