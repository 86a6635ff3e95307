import { Alert, Group, Stack, Text } from "@mantine/core";
import { acts, type Plan, type Progress, results } from "@/parts/acts";
import { Fact } from "@/parts/Beside";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { count } from "@/parts/words";
import { Bars } from "../replay/Bars";
import { stops, sum } from "../replay/say";
import { Levers } from "./Levers";

/** An act that runs, stands still or is over: the report of it, which stays. */
export function Running({ plan, p, live, onProgress }: { plan: Plan; p: Progress; live: boolean; onProgress: (p: Progress) => void }) {
  const w = acts[plan.act];
  const turns = sum(p.results);
  return (
    <>
      {p.state === "stopped" && p.stop && (
        <Alert color="red" variant="light" title="It has stopped by itself" role="alert">
          <Text size="sm">
            {plan.act === "inquire" && p.stop.code !== "BREAKER_OPEN" ? "The payer does not answer most of them." : (stops[p.stop.code]?.why ?? "")} {p.stop.partner && <span className="mono">{p.stop.partner}</span>} (
            <span className="mono">{p.stop.code}</span>, <When t={p.stop.at} />). Nothing is lost: resume it once that is over.
          </Text>
        </Alert>
      )}
      <Section title={p.state === "done" || p.state === "cancelled" ? "What became of them" : "Progress"} more={<Levers plan={plan} p={p} onProgress={onProgress} />}>
        <Stack gap="md">
          <Bars label="Had their turn" total={p.items} bars={results.map(([k, r]) => ({ label: r.did(w), n: p.results[k] ?? 0, color: r.color }))} />
          <Group gap="xl" align="flex-start" className="figure">
            <Fact label="Turns">
              {count(turns)} of {count(p.items)}
            </Fact>
            <Fact label="At most">{p.rate} a second</Fact>
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
          {p.state === "done" && (
            <Text size="sm" fw={600} role="status">
              Done: {results.filter(([k]) => p.results[k]).map(([k, r]) => `${count(p.results[k]!)} ${r.did(w)}`).join(", ")}.
            </Text>
          )}
        </Stack>
      </Section>
    </>
  );
}
