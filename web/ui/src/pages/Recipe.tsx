import { Alert, Anchor, Badge, Box, Button, Group, Progress, NativeSelect, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { api, background, got, newKey, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { Page } from "@/parts/Page";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { Section } from "@/parts/Section";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { count, dollars, many, name } from "@/parts/words";
import { counted } from "./claim/place";
import { clear, type Draft, give, peek } from "./recipes/handoff";
import type { Hand } from "./replay/say";
import { sayRule, sayRxRule, verdicts } from "./recipes/say";

type R = Schemas["Recipe"];

/** A recipe: what it makes of each record, masked; then what became of each. */
export default function RecipePage() {
  const { id } = useParams<{ id: string }>();
  const q = useQuery({
    queryKey: ["recipe", id],
    queryFn: () => got(api.GET("/v1/recipes/{id}", { params: { path: { id: id! } }, headers: background })),
    refetchInterval: (x) => (x.state.data?.state === "running" ? 700 : 10_000),
  });
  return (
    <Page title="Recipe" crumbs={[{ label: "Recipes", href: "/recipes" }]}>
      <Await query={q}>{(r) => <Details key={r.id} r={r} />}</Await>
    </Page>
  );
}

function Details({ r }: { r: R }) {
  // What it was made of, where it was made here: to change it, and its reason. It goes with the page.
  const [draft] = useState<Draft | null>(peek);
  useEffect(clear, []);
  return (
    <Stack>
      <Section
        title="What it does"
        more={
          <Group gap={6}>
            <StateBadge state={r.state} />
          </Group>
        }
      >
        {[...r.rules.map(sayRule), ...r.rx_rules.map(sayRxRule)].map((s, i) => (
          <Text key={i} fw={600}>
            {s}
          </Text>
        ))}
        <Text size="sm" c="dimmed">
          By {r.author} <When t={r.at} />. The values are sealed and shown to nobody; they are removed when it is done.
        </Text>
      </Section>
      <Act r={r} draft={draft} />
      <Items r={r} />
    </Stack>
  );
}

function Act({ r, draft }: { r: R; draft: Draft | null }) {
  const { may } = useSession();
  const [, go] = useLocation();
  const { run, busy } = useCommand();
  const [asking, setAsking] = useState<"apply" | "cancel" | "plan" | null>(null);
  const [error, setError] = useState<unknown>(null);
  const clean = r.counts["clean"] ?? 0;
  const applied = r.outcomes["applied"] ?? 0;
  const header = (key: string) => ({ "Idempotency-Key": key });
  const apply = (reason: string) =>
    run("", (key) => got(api.POST("/v1/recipes/{id}/apply", { params: { path: { id: r.id }, header: header(key) }, body: { reason, digest: r.digest } })));
  const cancel = (reason: string) => run("The recipe is ended.", (key) => got(api.POST("/v1/recipes/{id}/cancel", { params: { path: { id: r.id }, header: header(key) }, body: { reason } })));
  const plan = async (reason: string) => {
    const j = await run("", (key) => got(api.POST("/v1/replays", { params: { header: header(key) }, body: { recipe: r.id, reason } })));
    const id = j.plan.id;
    // If it cannot begin now, the page of the plan offers it again.
    await got(api.POST("/v1/replays/{id}/dry-run", { params: { path: { id }, header: header(newKey()) }, body: { reason } })).catch(() => undefined);
    const next: Hand = { reason };
    go(`/replays/${id}`, { state: next });
  };
  /** With the reason that was given when the recipe was made; asked for where it was not made here. */
  const because = async (what: "apply" | "plan", f: (reason: string) => Promise<unknown>) => {
    if (!draft) {
      setAsking(what);
      return;
    }
    setError(null);
    try {
      await f(draft.reason.trim());
    } catch (x) {
      setError(x);
    }
  };
  const open = r.state === "previewed" || r.state === "stopped";
  return (
    <Section title={r.state === "previewed" ? "What it would do" : "How far it is"}>
      <Stack gap="sm">
        {r.state === "previewed" ? <Counts counts={r.counts} of={r.items} /> : <Running r={r} />}
        {r.state === "previewed" && clean > 0 && (
          <Text size="sm">
            {many(r.claims, "claim")} for {dollars(r.cents)} can be corrected. The others are left alone. Nothing is sent by this: the records stay in quarantine until they are replayed.
          </Text>
        )}
        {r.state === "stopped" && <Alert color="red" variant="light" title="The store or the vault has failed">Look at the alarms; then apply it again. What is corrected stays so.</Alert>}
        {error !== null && <Failure error={error} />}
        <Group gap="xs">
          {open && may("record.correct") && clean > 0 && (
            <Button loading={busy} onClick={() => void because("apply", apply)}>
              Correct {r.state === "stopped" ? `the ${count(r.left)} left` : count(clean)}
            </Button>
          )}
          {r.state !== "previewed" && r.state !== "running" && applied > 0 && may("replay.plan") && (
            <Button loading={busy} onClick={() => void because("plan", plan)}>
              Replay these {count(applied)}
            </Button>
          )}
          {r.state === "previewed" && draft && (
            <Button
              variant="default"
              onClick={() => {
                give(draft);
                go("/recipes/new");
              }}
            >
              Change it
            </Button>
          )}
          {(open || r.state === "running") && may("record.correct") && (
            <Button variant="default" onClick={() => setAsking("cancel")}>
              {r.state === "running" ? "Stop here" : "Discard it"}
            </Button>
          )}
        </Group>
      </Stack>
      {asking === "apply" && (
        <ReasonDialog title={`Correct ${many(clean, "record")}`} verb="Correct" suggestions={["Same fault in all of them"]} onClose={() => setAsking(null)} onConfirm={apply}>
          <Text size="sm">Each gets a new revision, if it is still as it was previewed.</Text>
        </ReasonDialog>
      )}
      {asking === "plan" && (
        <ReasonDialog title={`Plan the replay of ${many(applied, "record")}`} verb="Plan" suggestions={["Corrected"]} onClose={() => setAsking(null)} onConfirm={plan}>
          <Text size="sm">The plan is frozen and tried dry; you run it on its page.</Text>
        </ReasonDialog>
      )}
      {asking === "cancel" && (
        <ReasonDialog title="End the recipe" verb="End it" suggestions={["Not what was meant"]} onClose={() => setAsking(null)} onConfirm={cancel}>
          <Text size="sm">What is corrected stays so; the rest is left alone. Its values are removed.</Text>
        </ReasonDialog>
      )}
    </Section>
  );
}

function Counts({ counts, of }: { counts: Record<string, number>; of: number }) {
  const known = Object.keys(verdicts).filter((v) => counts[v]);
  return (
    <Group gap="lg" className="figure">
      {known.map((v) => (
        <Box key={v}>
          <Badge color={verdicts[v]!.color} variant="light" tt="none" radius="sm" className="badge">
            {verdicts[v]!.label}
          </Badge>
          <Text fw={700} size="xl">
            {count(counts[v]!)}
            <Text span size="sm" c="dimmed" fw={400}>
              {" "}
              of {count(of)}
            </Text>
          </Text>
          <Text size="xs" c="dimmed" maw={200}>
            {verdicts[v]!.about}
          </Text>
        </Box>
      ))}
    </Group>
  );
}

function Running({ r }: { r: R }) {
  const clean = r.counts["clean"] ?? 0;
  const done = clean - r.left;
  return (
    <>
      <Progress value={clean === 0 ? 100 : (done / clean) * 100} aria-label={`${count(done)} of ${count(clean)} had their turn`} />
      <Text size="sm" className="figure" role="status">
        {count(done)} of {count(clean)} had their turn
        {r.runner && `, by ${r.runner}`}
        {r.ended_at && (
          <>
            , ended <When t={r.ended_at} />
          </>
        )}
        .
      </Text>
      <Counts counts={r.outcomes} of={clean} />
    </>
  );
}

const pageOf = 200;

/** Every record of it, as many lines as the window shows. */
function Items({ r }: { r: R }) {
  const [which, setWhich] = useState("");
  const after = r.state !== "previewed";
  const counts = after ? r.outcomes : r.counts;
  const asked = which in counts ? which : "";
  const q = useInfiniteQuery({
    queryKey: ["recipe", r.id, "items", asked, after, r.state === "running" ? "" : r.seq],
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/v1/recipes/{id}/items", {
          params: { path: { id: r.id }, query: { from: pageParam, limit: pageOf, ...(asked && (after ? { outcome: asked as "applied" } : { verdict: asked as "clean" })) } },
          headers: background,
        }),
      ),
    initialPageParam: 0,
    getNextPageParam: (last) => last.next,
    refetchInterval: r.state === "running" ? 2_000 : false,
  });
  const items = q.data?.pages.flatMap((p) => p.items) ?? [];
  const options = [{ value: "", label: `All ${count(r.items)}` }, ...Object.keys(verdicts).filter((v) => counts[v]).map((v) => ({ value: v, label: `${verdicts[v]!.label} ${count(counts[v]!)}` }))];
  return (
    <Section title="Record by record">
      <NativeSelect aria-label="Which records" size="xs" maw={260} data={options} value={asked} onChange={(e) => setWhich(e.currentTarget.value)} mb="xs" />
      {q.isError && <Failure error={q.error} onRetry={() => void q.refetch()} />}
      {q.isSuccess && items.length === 0 && <Empty title="None" />}
      <Lines items={items} more={() => q.hasNextPage && !q.isFetchingNextPage && void q.fetchNextPage()} />
    </Section>
  );
}

function Lines({ items, more }: { items: Schemas["RecipeItem"][]; more: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const v = useWindowVirtualizer({ count: items.length, estimateSize: () => 58, overscan: 8, scrollMargin: box.current?.offsetTop ?? 0 });
  const lines = v.getVirtualItems();
  const last = lines.at(-1)?.index ?? 0;
  useEffect(() => {
    if (items.length > 0 && last >= items.length - 20) more();
  }, [last, items.length]); // eslint-disable-line react-hooks/exhaustive-deps
  return (
    <div ref={box} role="list" aria-label="Records of the recipe" style={{ height: v.getTotalSize(), position: "relative" }}>
      {lines.map((l) => (
        <div key={items[l.index]!.index} ref={v.measureElement} data-index={l.index} role="listitem" className="recipe-item" style={{ position: "absolute", top: 0, left: 0, right: 0, transform: `translateY(${l.start - v.options.scrollMargin}px)` }}>
          <Item x={items[l.index]!} />
        </div>
      ))}
    </div>
  );
}

function Item({ x }: { x: Schemas["RecipeItem"] }) {
  const end = x.outcome ?? x.verdict;
  const v = verdicts[end] ?? { label: name(end), color: "gray", about: "" };
  return (
    <Group gap="sm" align="flex-start">
      <Anchor component={Link} href={`/records/${x.record}`} size="sm" className="figure" w={92}>
        Record {x.record}
      </Anchor>
      <Badge color={v.color} variant="light" tt="none" radius="sm" className="badge">
        {v.label}
      </Badge>
      <Box flex={1} miw={200}>
        {x.differences.filter((d) => !counted(d)).map((d, i) => (
          <Text key={i} size="sm">
            <span className="mono">{d.field ?? `${d.segment ?? ""}${d.element ?? ""}`}</span> {d.field_name?.replace(/^\d{3}-[0-9A-Z]{2} /, "") || d.element_name || d.segment_name}:{" "}
            <span className="mono breakable">{d.before || "–"}</span> → <span className="mono breakable">{d.after || "–"}</span>
          </Text>
        ))}
        {x.more_differences ? (
          <Text size="xs" c="dimmed">
            and {count(x.more_differences)} more
          </Text>
        ) : null}
        {(x.meaning || x.outcome_code) && (
          <Text size="sm" c="var(--fault)">
            {x.meaning} <span className="mono">{x.outcome_code || x.code}</span>
          </Text>
        )}
      </Box>
      <Text size="sm" className="figure">
        {dollars(x.amount_cents)}
      </Text>
    </Group>
  );
}
