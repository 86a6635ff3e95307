import { Alert, Anchor, Button, Group, List, Progress as Bar, Stack, Text, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { Failure } from "@/parts/Failure";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { Section } from "@/parts/Section";
import { live, useApprovals } from "@/parts/SecondPerson";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { count, many } from "@/parts/words";
import type { Which } from "./Items";
import { type Plan, type Progress, results, sum, takeHand } from "./say";

interface Props {
  plan: Plan;
  p: Progress;
  onProgress: (p: Progress) => void;
  onWhich: (w: Which) => void;
}

/** A plan that has not run: what the dry run says, and what it takes to run it. */
export function Ready({ plan, p, onProgress, onWhich }: Props) {
  const { may } = useSession();
  const [, go] = useLocation();
  const { run, busy } = useCommand();
  const [hand] = useState(takeHand);
  const [reason, setReason] = useState(hand.reason ?? "As planned; the dry run is as expected");
  const [error, setError] = useState<unknown>(null);
  const [discarding, setDiscarding] = useState(false);
  const approvals = useApprovals().data ?? [];
  const about = approvals.filter((a) => a.on === `JOB:${plan.id}` && a.permission === "replay.run");
  const mine = about.find((a) => a.mine && live(a));
  const others = about.find((a) => !a.mine && live(a));
  const refused = about.find((a) => a.mine && a.state === "refused");
  useEffect(() => {
    if (mine) setReason(mine.reason);
  }, [mine]);
  const done = sum(p.dry_run);
  const dried = p.dry_run_at !== undefined;
  // While a dry run is under way, it has counts and no end.
  const drying = !dried && p.dry_run !== undefined;
  const good = p.dry_run?.["replayed"] ?? 0;
  const path = { id: plan.id };
  const act = async (f: () => Promise<unknown>) => {
    setError(null);
    try {
      await f();
    } catch (x) {
      setError(x);
    }
  };
  const dry = () => act(() => run("", async (key) => onProgress(await got(api.POST("/v1/replays/{id}/dry-run", { params: { path, header: { "Idempotency-Key": key } }, body: { reason: reason.trim() } })))));
  const start = () =>
    act(() =>
      run("", async (key) =>
        onProgress(await got(api.POST("/v1/replays/{id}/run", { params: { path, header: { "Idempotency-Key": key } }, body: { digest: plan.digest, reason: reason.trim(), ...(mine?.state === "given" ? { approval: mine.id } : {}) } }))),
      ),
    );
  const ask = () => act(() => run("Asked. Who may approve sees it under Approvals.", (key) => got(api.POST("/v1/replays/{id}/run:ask", { params: { path, header: { "Idempotency-Key": key } }, body: { reason: reason.trim() } }))));
  const needs = p.needs_approval && !p.approved_by;
  const approved = !needs || mine?.state === "given";
  return (
    <>
      <Section
        title="Dry run"
        more={
          may("replay.plan") &&
          !drying && (
            <Button size="compact-sm" variant="default" onClick={() => void dry()} loading={busy}>
              {dried ? "Try dry again" : "Try dry"}
            </Button>
          )
        }
      >
        {!dried && !drying && <Text size="sm">Not tried yet: it decides about every record as a run would, and releases none.</Text>}
        {drying && <Bar value={(done / plan.items) * 100} animated aria-label="Dry run" mb="xs" />}
        {(dried || drying) && (
          <div role="status">
            <Text size="sm" fw={600} className="figure">
              {drying ? `${count(done)} of ${count(plan.items)} tried` : `${count(plan.items)} selected`}
              {": "}
              {results
                .filter(([k]) => p.dry_run?.[k])
                .map(([k, w]) => `${count(p.dry_run![k]!)} ${w.would}`)
                .join(", ") || "nothing decided yet"}
              .{" "}
              {dried && (
                <Text span size="sm" c="dimmed" fw={400}>
                  <When t={p.dry_run_at} />
                </Text>
              )}
            </Text>
          </div>
        )}
        {dried && (
          <List size="sm" mt={6} spacing={4}>
            {results
              .filter(([k]) => k !== "replayed" && p.dry_run?.[k])
              .map(([k, w]) => (
                <List.Item key={k}>
                  <Anchor component="button" type="button" size="sm" onClick={() => onWhich({ by: "verdict", value: k })}>
                    {count(p.dry_run![k]!)} {w.would}
                  </Anchor>
                  . {w.what}
                  {k === "not_corrected" && hand.from !== undefined && may("record.correct") && (
                    <>
                      {" "}
                      <Anchor component={Link} href={`/recipes/new?${hand.from}`} size="sm">
                        Correct all by one recipe
                      </Anchor>
                    </>
                  )}
                  {k === "in_doubt" && (
                    <>
                      {" "}
                      <Anchor component={Link} href="/in-doubt" size="sm">
                        To those in doubt
                      </Anchor>
                    </>
                  )}
                </List.Item>
              ))}
          </List>
        )}
      </Section>
      <Section title="Run">
        <Stack gap="sm">
          {dried && good === 0 && (
            <Alert color="yellow" variant="light" title="Nothing would be released">
              <Text size="sm">
                {(p.dry_run?.["not_corrected"] ?? 0) > 0 ? "Correct them first. If nothing is wrong in them and the cause is gone, plan anew with “Release as they are”." : "There is nothing in this plan that a run could release."}
              </Text>
            </Alert>
          )}
          {needs && good > 0 && mine?.state !== "given" && (
            <Text size="sm">
              {many(plan.claims, "claim")}: that many take a second person. They are shown this very plan, by its digest; once they have approved it, you run it. They cannot run it, and you cannot approve it.
            </Text>
          )}
          {mine?.state === "asked" && (
            <Alert color="blue" variant="light" title="Waits for a second person" role="status">
              <Text size="sm">
                You asked <When t={mine.asked_at} />. When somebody has approved it, the button here begins the run; the request ends <When t={mine.expires_at} />.
              </Text>
            </Alert>
          )}
          {mine?.state === "given" && (
            <Alert color="green" variant="light" title={`${mine.decided_by ?? "Somebody"} has approved it`} role="status">
              <Text size="sm">
                <When t={mine.decided_at} />
                {mine.answer ? `: “${mine.answer}”` : ""}. Good for exactly this plan, once.
              </Text>
            </Alert>
          )}
          {refused && !mine && (
            <Text size="sm" c="var(--mantine-color-error)">
              {refused.decided_by} said no{refused.answer ? `: “${refused.answer}”` : ""}.
            </Text>
          )}
          {others && (
            <Text size="sm">
              {others.asked_by} has asked for it <When t={others.asked_at} />; who asks runs it.
            </Text>
          )}
          {may("replay.run") ? (
            <>
              <TextInput label="Reason" description="For the audit log. It must name no patient." value={reason} onChange={(e) => setReason(e.currentTarget.value)} maxLength={200} required maw={640} />
              {error !== null && <Failure error={error} />}
              <Group>
                {approved ? (
                  <Button onClick={() => void start()} loading={busy} disabled={!dried || good === 0 || reason.trim() === ""}>
                    Run: release {count(good)}
                  </Button>
                ) : (
                  mine?.state !== "asked" && (
                    <Button onClick={() => void ask()} loading={busy} disabled={!dried || good === 0 || reason.trim() === ""}>
                      Ask a second person
                    </Button>
                  )
                )}
                <Button
                  variant="default"
                  onClick={() => go(`/replays/new${hand.from ? `?${hand.from}` : ""}`, { state: { ids: hand.ids, reason: hand.reason } })}
                  disabled={hand.from === undefined && hand.ids === undefined}
                >
                  Change and plan anew
                </Button>
                <Button variant="subtle" color="red" onClick={() => setDiscarding(true)} disabled={drying}>
                  Discard
                </Button>
              </Group>
            </>
          ) : (
            <Text size="sm" c="dimmed">
              To run it takes an operator or an analyst.
            </Text>
          )}
        </Stack>
      </Section>
      {discarding && (
        <ReasonDialog
          title="Discard this plan?"
          verb="Discard"
          danger
          suggestions={["Planned anew", "Not needed"]}
          onClose={() => setDiscarding(false)}
          onConfirm={(why) => run("Discarded", async (key) => onProgress(await got(api.POST("/v1/replays/{id}/cancel", { params: { path, header: { "Idempotency-Key": key } }, body: { reason: why } }))))}
        >
          <Text size="sm">Nothing of it was released. The records stay where they are.</Text>
        </ReasonDialog>
      )}
    </>
  );
}
