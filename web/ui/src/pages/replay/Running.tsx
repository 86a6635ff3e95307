import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { Fact } from "@/parts/Beside";
import { NumberField } from "@/parts/NumberField";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { Section } from "@/parts/Section";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { count, many } from "@/parts/words";
import { Bars } from "./Bars";
import type { Which } from "./Items";
import { ends, phases, type Plan, type Progress, results, stops, sum } from "./say";

type Verb = "pause" | "resume" | "cancel";
const verbs: Record<Verb, { title: string; verb: string; about: string; said: string; suggestions: string[] }> = {
  pause: { title: "Pause the replay?", verb: "Pause", about: "No more are released from now on. What is released goes its way and is still seen.", said: "Paused", suggestions: ["Looking at the first ones", "The partner asked for it"] },
  resume: { title: "Resume the replay?", verb: "Resume", about: "It goes on where it was. What had stopped by itself begins with canaries again, under the rules of now.", said: "It goes on", suggestions: ["The cause is gone", "Looked at, as expected"] },
  cancel: { title: "Cancel the replay?", verb: "Cancel it for good", about: "What is not released stays where it is; this replay cannot go on again.", said: "Cancelled", suggestions: ["Planned anew", "The fix does not work"] },
};

const colors: Record<string, string> = { replayed: "blue", not_corrected: "orange", duplicate_suppressed: "gray", in_doubt: "yellow", parked: "grape", moved: "gray", not_found: "gray", failed: "red", settled: "green", rejected: "red", same_cause: "red", requarantined: "orange", withdrawn: "gray", timed_out: "gray" };

interface Props {
  plan: Plan;
  p: Progress;
  live: boolean;
  onProgress: (p: Progress) => void;
  onWhich: (w: Which) => void;
}

/** A replay that runs, stands still or is over: where it is, what became of its records, and the levers. */
export function Running({ plan, p, live, onProgress, onWhich }: Props) {
  const { may } = useSession();
  const { run } = useCommand();
  const [doing, setDoing] = useState<Verb | null>(null);
  const turns = sum(p.results);
  const released = p.results["replayed"] ?? 0;
  const open = p.state === "running" || p.state === "paused" || p.state === "stopped";
  const bad = ends.filter(([k, , good]) => !good && p.ends[k]);
  const step = p.phase === "canary" ? 0 : p.phase === "ramp" ? 1 : p.phase === "watch" ? 2 : p.state === "done" ? 3 : 0;
  const stop = p.stop && p.state === "stopped" ? (stops[p.stop.code] ?? { why: p.stop.code, todo: "Look at those that came back." }) : null;
  return (
    <>
      {stop && p.stop && (
        <Alert color="red" variant="light" title="It has stopped by itself" role="alert">
          <Text size="sm">
            {stop.why} {p.stop.partner && <span className="mono">{p.stop.partner}</span>} (<span className="mono">{p.stop.code}</span>, <When t={p.stop.at} />)
          </Text>
          <Text size="sm" fw={600} mt={4}>
            {stop.todo}
          </Text>
        </Alert>
      )}
      <Section
        title="Progress"
        more={
            <Group gap="xs">
              {may("replay.run") && p.state === "running" && turns < p.items && (
                <Button size="compact-sm" variant="default" onClick={() => setDoing("pause")}>
                  Pause
                </Button>
              )}
              {may("replay.run") && (p.state === "paused" || p.state === "stopped") && (
                <Button size="compact-sm" onClick={() => setDoing("resume")}>
                  Resume
                </Button>
              )}
              {may("replay.run") && open && (
                <Button size="compact-sm" variant="subtle" color="red" onClick={() => setDoing("cancel")}>
                  Cancel
                </Button>
              )}
            </Group>
        }
      >
        <Stack gap="md">
          {p.state !== "cancelled" && (
            <ol className="phases" aria-label="Phases">
              {["canary", "ramp", "watch"].map((k, i) => (
                <li key={k} data-done={i < step || undefined} aria-current={i === step && p.state === "running" ? "step" : undefined}>
                  <Text size="sm" fw={i === step ? 700 : 500}>
                    {i + 1}. {phases[k]!.name}
                    {i < step && ": done"}
                  </Text>
                  {i === step && (
                    <Text size="xs" c="dimmed">
                      {phases[k]!.what}
                    </Text>
                  )}
                </li>
              ))}
            </ol>
          )}
          <Bars label="Had their turn" total={p.items} bars={results.map(([k, w]) => ({ label: w.did, n: p.results[k] ?? 0, color: colors[k] ?? "gray" }))} />
          <Bars label="Of the released" total={released} bars={[...ends.map(([k, w]) => ({ label: w, n: p.ends[k] ?? 0, color: colors[k] ?? "gray" })), { label: "under way", n: p.under_way, color: "blue" }]} />
          <Group gap="xl" align="flex-start" className="figure">
            <Fact label="Turns">
              {count(turns)} of {count(p.items)}
            </Fact>
            <Fact label="Rate now">{p.state === "running" && p.phase === "ramp" ? `${Number(p.rate.toFixed(2))} a second` : "–"}</Fact>
            <Fact label="At most">{open && turns < p.items && may("replay.run") ? <Rate id={plan.id} now={p.max_rate} onProgress={onProgress} /> : `${p.max_rate} a second`}</Fact>
            <Fact label="Run by">{p.runner ?? "–"}</Fact>
            {p.approved_by && <Fact label="Approved by">{p.approved_by}</Fact>}
            <Fact label="Begun">
              <When t={p.started_at} />
            </Fact>
            {p.ended_at && (
              <Fact label="Ended">
                <When t={p.ended_at} />
              </Fact>
            )}
            <Fact label="Seen">{live ? "as it happens" : p.watching ? "a moment ago" : "it is over"}</Fact>
          </Group>
          {bad.length > 0 && (
            <Group gap="xs">
              <Text size="sm">Look at:</Text>
              {bad.map(([k, w]) => (
                <Button key={k} size="compact-xs" variant="default" onClick={() => onWhich({ by: "end", value: k })}>
                  {count(p.ends[k]!)} {w}
                </Button>
              ))}
            </Group>
          )}
          {p.state === "done" && (
            <Text size="sm" fw={600} role="status">
              Done: {many(released, "record")} released, {count(p.ends["settled"] ?? 0)} settled.
            </Text>
          )}
        </Stack>
      </Section>
      {doing && (
        <ReasonDialog
          title={verbs[doing].title}
          verb={verbs[doing].verb}
          danger={doing === "cancel"}
          suggestions={verbs[doing].suggestions}
          onClose={() => setDoing(null)}
          onConfirm={(reason) =>
            run(verbs[doing].said, async (key) => {
              const params = { path: { id: plan.id }, header: { "Idempotency-Key": key } };
              const body = { reason };
              const call =
                doing === "pause" ? api.POST("/v1/replays/{id}/pause", { params, body }) : doing === "resume" ? api.POST("/v1/replays/{id}/resume", { params, body }) : api.POST("/v1/replays/{id}/cancel", { params, body });
              onProgress(await got(call));
            })
          }
        >
          <Text size="sm">{verbs[doing].about}</Text>
        </ReasonDialog>
      )}
    </>
  );
}

/** How many a second at most: changed while it runs, for a reason. */
function Rate({ id, now, onProgress }: { id: string; now: number; onProgress: (p: Progress) => void }) {
  const { run } = useCommand();
  const [value, setValue] = useState<string | number>(now);
  const [asking, ask] = useState(false);
  const n = Number(value);
  const good = n >= 0.001 && n <= 10_000;
  return (
    <>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (good && n !== now) ask(true);
        }}
      >
        <Group gap={6}>
          <NumberField size="xs" w={90} aria-label="At most, a second" min={0.001} max={10_000} value={value} onChange={setValue} />
          <Text size="sm">a second</Text>
          {n !== now && (
            <Button size="compact-xs" type="submit" disabled={!good}>
              Set
            </Button>
          )}
        </Group>
      </form>
      {asking && (
        <ReasonDialog
          title={`At most ${n} a second`}
          verb="Set it"
          suggestions={n > now ? ["The payer takes more", "Going well"] : ["The payer asked for less", "Answers are slow"]}
          onClose={() => ask(false)}
          onConfirm={(reason) =>
            run(`At most ${n} a second`, async (key) => onProgress(await got(api.PUT("/v1/replays/{id}/rate", { params: { path: { id }, header: { "Idempotency-Key": key } }, body: { per_second: n, reason } }))))
          }
        >
          <Text size="sm">It counts at once; now it is {now}.</Text>
        </ReasonDialog>
      )}
    </>
  );
}
