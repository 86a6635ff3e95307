import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, useEffect, useMemo, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { api, got, Problem, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { describe, type Filter, format, meaningsOf, useFilter } from "@/parts/filter";
import { FilterBar } from "@/parts/FilterBar";
import { Loading } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { Section } from "@/parts/Section";
import { useCommand } from "@/parts/useCommand";
import { useGroups } from "@/parts/useGroups";
import { many } from "@/parts/words";
import { defaults, PolicyFields } from "./replay/PolicyFields";
import { dropPlan, type Hand, type Policy, takeHand } from "./replay/say";

const crumbs = [{ label: "Replays", href: "/replays" }];
type PlanFilter = NonNullable<Schemas["PlanInputBody"]["filter"]>;

/** Of what is set, only what differs from the defaults: the plan says what was chosen. */
const chosen = (p: Required<Policy>): Policy => Object.fromEntries((Object.keys(p) as (keyof Policy)[]).filter((k) => p[k] !== defaults[k]).map((k) => [k, p[k]]));

export default function ReplayNew() {
  const { may } = useSession();
  const [, go] = useLocation();
  const search = useSearch();
  const [filter, change] = useFilter();
  const [hand] = useState<Hand>(takeHand);
  const ids = useMemo(() => {
    const asked = new URLSearchParams(search).get("ids");
    return asked ? asked.split(",").filter((x) => /^\d{1,18}$/.test(x)).map(Number) : (hand.ids ?? null);
  }, [search, hand]);
  const causes = useGroups(filter);
  const groups = causes.data?.groups;
  const meanings = useMemo(() => meaningsOf(groups ?? []), [groups]);
  const what = ids ? `Chosen by hand: ${many(ids.length, "record")}` : describe({ state: "quarantined", ...filter }, meanings);
  const [typed, setTyped] = useState<string | null>(hand.reason ?? null);
  const reason = typed ?? `Replay: ${what}`.slice(0, 180);
  const [policy, setPolicy] = useState(defaults);
  const [error, setError] = useState<unknown>(null);
  const { run, busy } = useCommand();

  const plan = async () => {
    setError(null);
    try {
      const said = reason.trim();
      const job = await run("", (key) =>
        got(
          api.POST("/v1/replays", {
            params: { header: { "Idempotency-Key": key } },
            body: { reason: said, policy: chosen(policy), ...(ids ? { ids } : { filter: filter as PlanFilter }) },
          }),
        ),
      );
      const id = job.plan.id;
      // If it cannot begin now, the page of the plan offers it again.
      await got(api.POST("/v1/replays/{id}/dry-run", { params: { path: { id }, header: { "Idempotency-Key": crypto.randomUUID() } }, body: { reason: said } })).catch(() => undefined);
      const next: Hand = { reason: said, ...(ids ? { ids } : { from: format(filter) }) };
      go(`/replays/${id}`, { replace: true, state: next });
    } catch (x) {
      setError(x);
    }
  };
  // Somebody pressed a button that plans at once; a reload does not.
  const [atOnce, setAtOnce] = useState(!!hand.plan && may("replay.plan"));
  useEffect(() => {
    if (!atOnce || causes.isLoading) return;
    dropPlan();
    setAtOnce(false);
    void plan();
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [atOnce, causes.isLoading]);

  if (!may("replay.plan")) {
    return (
      <Page title="Plan a replay" crumbs={crumbs}>
        <Failure error={new Problem(403, { code: "refused", detail: "Planning a replay takes an operator or an analyst.", hint: "Ask one of them, or an administrator for the role." })} />
      </Page>
    );
  }
  if (atOnce || (busy && error === null && hand.plan)) {
    return (
      <Page title="Plan a replay" crumbs={crumbs} about={what}>
        <Loading label="Freezing what is to be replayed" />
      </Page>
    );
  }
  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!busy) void plan();
  };
  return (
    <Page title="Plan a replay" crumbs={crumbs} about="It is frozen record by record, then tried dry. Nothing is released before you say so.">
      <form onSubmit={submit}>
        <Stack>
          <Section title="What">
            {ids ? <Text size="sm">{what}</Text> : <Which filter={filter} change={change} what={what} groups={groups} />}
          </Section>
          <Section title="How">
            <PolicyFields value={policy} onChange={setPolicy} />
          </Section>
          <TextInput label="Reason" description="For the audit log. It must name no patient." value={reason} onChange={(e) => setTyped(e.currentTarget.value)} maxLength={200} required />
          {error !== null && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={busy} disabled={reason.trim() === ""}>
              Plan and try dry
            </Button>
            {busy && (
              <Text size="sm" c="dimmed" role="status">
                Many records take a moment.
              </Text>
            )}
          </Group>
        </Stack>
      </form>
    </Page>
  );
}

function Which({ filter, change, what, groups }: { filter: Filter; change: (f: Filter) => void; what: string; groups?: Schemas["Group"][] }) {
  const state = filter.state ?? "quarantined";
  const match = (groups ?? []).filter((g) => g.state === state && (!filter.reason || g.reason_code === filter.reason) && (!filter.detail || g.error_detail === filter.detail) && (!filter.partner || g.partner === filter.partner) && (!filter.stream || g.stream === filter.stream));
  const records = match.reduce((n, g) => n + g.records, 0);
  const claims = match.reduce((n, g) => n + g.claims, 0);
  return (
    <Stack gap="sm">
      <FilterBar filter={filter} onChange={change} groups={groups} show={["state", "reason", "detail", "partner", "stream", "older_than"]} anyState="Quarantined" only={["quarantined", "parked", "in_doubt"]} />
      {records === 0 && groups ? (
        <Empty title="Nothing matches now">Choose another cause, or look at the list of causes.</Empty>
      ) : (
        <Text size="sm" className="figure">
          {what}: {many(records, "record")} with {many(claims, "claim")} now.
          {state !== "quarantined" && " The dry run will say that these are not released as they are."}
        </Text>
      )}
    </Stack>
  );
}
