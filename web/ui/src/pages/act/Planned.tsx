import { Button, Group, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { acts, type Plan, type Progress, results } from "@/parts/acts";
import { Failure } from "@/parts/Failure";
import { ReasonField } from "@/parts/ReasonField";
import { Section } from "@/parts/Section";
import { SecondPerson } from "@/parts/SecondPerson";
import { useCommand } from "@/parts/useCommand";
import { count, many } from "@/parts/words";
import { Bars } from "../replay/Bars";
import { takeHand } from "../replay/say";
import { Levers } from "./Levers";

/** An act that has not begun: what would become of the records, and what it takes to begin. */
export function Planned({ plan, p, onProgress }: { plan: Plan; p: Progress; onProgress: (p: Progress) => void }) {
  const { may } = useSession();
  const { run, busy } = useCommand();
  const [reason, setReason] = useState(takeHand().reason ?? "");
  const [error, setError] = useState<unknown>(null);
  const w = acts[plan.act];
  const good = plan.verdicts["done"] ?? 0;
  const path = { id: plan.id };
  const begin = async (why: string, key: string, approval?: string) =>
    onProgress(await got(api.POST("/v1/acts/{id}/run", { params: { path, header: { "Idempotency-Key": key } }, body: { digest: plan.digest, reason: why, ...(approval ? { approval } : {}) } })));
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    if (busy) return;
    setError(null);
    try {
      await run("", (key) => begin(reason.trim(), key));
    } catch (x) {
      setError(x);
    }
  };
  return (
    <Section title="What would become of them" more={<Levers plan={plan} p={p} onProgress={onProgress} />}>
      <Stack>
        <Bars label="As planned" total={plan.items} bars={results.map(([k, r]) => ({ label: r.would, n: plan.verdicts[k] ?? 0, color: r.color }))} />
        <Text size="sm">{w.does}</Text>
        {!may(w.permission) ? (
          <Text size="sm" c="dimmed">
            Your role does not do this.
          </Text>
        ) : good === 0 ? (
          <Text size="sm" fw={600}>
            There is nothing to do: none of them is in a state that allows it.
          </Text>
        ) : p.needs_approval ? (
          <SecondPerson
            verb={`${w.verb} ${count(good)}`}
            about={`${many(good, "record")} with ${many(plan.claims, "claim")}: ${w.does}`}
            permission={w.permission}
            on={`ACT:${plan.id}`}
            danger={w.danger}
            suggestions={w.often}
            ask={(why, key) => got(api.POST("/v1/acts/{id}/run:ask", { params: { path, header: { "Idempotency-Key": key } }, body: { reason: why } }))}
            act={(why, approval, key) => begin(why, key, approval)}
          />
        ) : (
          <form onSubmit={(e) => void submit(e)}>
            <Stack gap="sm">
              <ReasonField description="For the audit log, with each of them. It must name no patient." value={reason} onChange={setReason} often={w.often} />
              {error !== null && <Failure error={error} />}
              <Group>
                <Button type="submit" loading={busy} disabled={reason.trim() === ""}>
                  {w.verb}: {many(good, "record")}
                </Button>
              </Group>
            </Stack>
          </form>
        )}
      </Stack>
    </Section>
  );
}
