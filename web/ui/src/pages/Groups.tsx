import { ActionIcon, Anchor, Button, Card, Group, NativeSelect, Progress, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { IconDots } from "@tabler/icons-react";
import { useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { ReasonBadge, StateBadge } from "@/parts/Badges";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { type Filter, format, ofGroup, useFilter } from "@/parts/filter";
import { FilterBar } from "@/parts/FilterBar";
import { Page } from "@/parts/Page";
import { choice, Popup } from "@/parts/Popup";
import { useGroups } from "@/parts/useGroups";
import { When } from "@/parts/When";
import { count, many, name } from "@/parts/words";

type Cause = Schemas["Group"];

/** States in which nothing happens until a person does something. */
const waiting = new Set(["quarantined", "in_doubt", "parked"]);
/** A replay releases these; what is in doubt is asked about first. */
const releasable = new Set(["quarantined"]);

const keyOf = (g: Cause): string => [g.state, g.reason_code, g.error_detail, g.partner, g.stream].join("|");
const orders: Record<string, (a: Cause, b: Cause) => number> = {
  claims: (a, b) => b.claims - a.claims,
  records: (a, b) => b.records - a.records,
  age: (a, b) => (a.oldest_at ?? "9").localeCompare(b.oldest_at ?? "9"),
};

export default function Groups() {
  const [filter, change] = useFilter();
  const search = useSearch();
  const [path, go] = useLocation();
  const order = new URLSearchParams(search).get("sort") ?? "claims";
  const q = useGroups(filter);
  const all = useMemo(() => (q.data?.groups ?? []).filter((g) => filter.state || waiting.has(g.state)), [q.data, filter.state]);
  const setOrder = (to: string) => {
    const s = new URLSearchParams(search);
    s.set("sort", to);
    go(`${path}?${s.toString()}`, { replace: true });
  };
  return (
    <Page title="Causes" about="Records that failed for the same cause at the same partner, so that one fix serves them all.">
      <Group justify="space-between" align="flex-end">
        <FilterBar filter={filter} onChange={change} groups={all} show={["state", "reason", "detail", "partner", "stream", "older_than"]} anyState="Waits for a person" />
        <NativeSelect
          label="Sorted by"
          size="xs"
          value={order}
          onChange={(e) => setOrder(e.currentTarget.value)}
          data={[
            { value: "claims", label: "Most claims" },
            { value: "records", label: "Most records" },
            { value: "age", label: "Oldest" },
          ]}
        />
      </Group>
      <Await query={q} lines={8}>
        {(g) => <Causes key={`${format(filter)}|${order}`} all={all} more={g.more} filter={filter} order={order} />}
      </Await>
    </Page>
  );
}

function Causes({ all, more, filter, order }: { all: Cause[]; more: boolean; filter: Filter; order: string }) {
  const groups = useSteady(
    all.filter((g) => (!filter.state || g.state === filter.state) && (!filter.reason || g.reason_code === filter.reason) && (!filter.detail || g.error_detail === filter.detail) && (!filter.partner || g.partner === filter.partner) && (!filter.stream || g.stream === filter.stream)),
    orders[order] ?? orders["claims"]!,
  );
  const [error, setError] = useState<unknown>(null);
  if (groups.length === 0) {
    const filtered = Object.keys(filter).length > 0;
    return <Empty title={filtered ? "No cause is like that now" : "Nothing waits for a person"}>{filtered ? "Clear a filter to see more." : "Every claim is delivered, settled or on its way."}</Empty>;
  }
  const claims = groups.reduce((n, g) => n + g.claims, 0);
  const most = Math.max(...groups.map((g) => g.claims), 1);
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed" className="figure" role="status">
        {many(groups.length, "cause")}, {many(claims, "claim")}
        {more && " in the largest causes; there are more: narrow the filter"}
      </Text>
      {error !== null && <Failure error={error} />}
      <Card withBorder padding={0} style={{ overflowX: "auto" }}>
        <Table verticalSpacing={8} miw={940} aria-label="Causes">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Cause</Table.Th>
              <Table.Th>Partner</Table.Th>
              <Table.Th ta="right">Records</Table.Th>
              <Table.Th ta="right">Claims</Table.Th>
              <Table.Th>Oldest</Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {groups.map((g) => (
              <Table.Tr key={keyOf(g)}>
                <Table.Td>
                  <Anchor component={Link} href={`/records?${format(ofGroup(g))}`} size="sm" fw={600}>
                    {g.meaning || g.error_detail || name(g.reason_code) || name(g.state)}
                  </Anchor>
                  <Group gap={6} mt={2}>
                    <StateBadge state={g.state} />
                    <ReasonBadge reason={g.reason_code} />
                    <Text size="xs" c="dimmed" className="mono">
                      {g.error_detail}
                    </Text>
                  </Group>
                </Table.Td>
                <Table.Td>
                  <span className="mono">{g.partner || "–"}</span>
                  <Text size="xs" c="dimmed">
                    {name(g.stream)}
                  </Text>
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  {count(g.records)}
                </Table.Td>
                <Table.Td ta="right" className="figure" w={110}>
                  {count(g.claims)}
                  <Progress value={(g.claims / most) * 100} size={4} aria-hidden />
                </Table.Td>
                <Table.Td>
                  <When t={g.oldest_at} />
                </Table.Td>
                <Table.Td>
                  <Acts g={g} filter={filter} onError={setError} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Card>
    </Stack>
  );
}

/** Keeps lines where they are while figures change: new ones come last, until somebody sorts or filters. */
function useSteady(groups: Cause[], order: (a: Cause, b: Cause) => number): Cause[] {
  const seen = useRef(new Map<string, number>());
  for (const g of [...groups].sort(order)) if (!seen.current.has(keyOf(g))) seen.current.set(keyOf(g), seen.current.size);
  return [...groups].sort((a, b) => seen.current.get(keyOf(a))! - seen.current.get(keyOf(b))!);
}

function Acts({ g, filter, onError }: { g: Cause; filter: Filter; onError: (e: unknown) => void }) {
  const { may } = useSession();
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  const of = { ...ofGroup(g), ...(filter.format ? { format: filter.format } : {}), ...(filter.older_than ? { older_than: filter.older_than } : {}) };
  const query = format(of);
  const look = async () => {
    setBusy(true);
    onError(null);
    try {
      const page = await got(api.GET("/v1/records", { params: { query: { ...of, limit: 1 } } }));
      const r = page.records[0];
      go(r ? `/records/${r.id}` : `/records?${query}`);
    } catch (x) {
      onError(x);
      setBusy(false);
    }
  };
  const words = g.meaning || g.error_detail || name(g.reason_code);
  // A faulty form is corrected; what only ran out of tries is sent again as it is.
  const fix = g.state === "quarantined" && g.reason_code !== "RETRIES_EXHAUSTED" && may("record.correct");
  const replay = releasable.has(g.state) && g.stream !== "acks" && may("replay.plan");
  const doubt = g.state === "in_doubt";
  const lookButton = (
    <Button size="compact-sm" variant={fix || !replay ? "light" : "default"} loading={busy} onClick={() => void look()} aria-label={`Look at one: ${words}`}>
      Look at one
    </Button>
  );
  const replayAll = () => go(`/replays/new?${query}`, { state: { plan: true } });
  return (
    <Group gap={6} wrap="nowrap" justify="flex-end">
      {doubt ? (
        <Button size="compact-sm" variant="light" component={Link} href={`/in-doubt?${query}`}>
          Ask the payer
        </Button>
      ) : (
        lookButton
      )}
      {fix && (
        <Button title="By one recipe, looked at before it is applied" size="compact-sm" variant="default" component={Link} href={`/recipes/new?${query}`} aria-label={`Correct all: ${words}`}>
          Correct all
        </Button>
      )}
      {replay && (
        <Button title="Plans it and tries it dry; nothing is released yet" size="compact-sm" variant={fix ? "default" : "light"} onClick={replayAll} aria-label={`Replay all: ${words}`}>
          Replay all
        </Button>
      )}
      <Popup
        label={`More: ${words}`}
        button={
          <ActionIcon variant="subtle" color="gray" aria-label={`More: ${words}`}>
            <IconDots size={18} />
          </ActionIcon>
        }
      >
        <Link href={`/records?${query}`} {...choice}>
          List records
        </Link>
        {doubt && (
          <button {...choice} onClick={() => void look()}>
            Look at one
          </button>
        )}
        {g.state === "parked" && (
          <Link href={`/parked?${query}`} {...choice}>
            Give back or write off
          </Link>
        )}
      </Popup>
    </Group>
  );
}
