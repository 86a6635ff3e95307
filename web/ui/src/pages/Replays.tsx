import { Anchor, Button, Card, Progress as Bar, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { Empty } from "@/parts/Empty";
import { Page } from "@/parts/Page";
import { When } from "@/parts/When";
import { count } from "@/parts/words";
import { ActList } from "./act/List";
import { ends, phases, plannedAt, type Progress, results, stops, sum } from "./replay/say";

export default function Replays() {
  const { may } = useSession();
  const q = useQuery({
    queryKey: ["replays"],
    queryFn: async () => (await got(api.GET("/v1/replays", { params: { query: { limit: 200 } }, headers: background }))).replays,
    refetchInterval: 5_000,
  });
  return (
    <Page
      title="Replays"
      about="Frozen plans, tried dry, released a few at first. Each goes on at the server whether somebody looks or not."
      actions={
        may("replay.plan") && (
          <Button component={Link} href="/replays/new" size="sm">
            Plan a replay
          </Button>
        )
      }
    >
      <Await query={q}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="Nothing was replayed yet">
              Begin at the <Link href="/groups">list of causes</Link>: choose one and press “Replay all”.
            </Empty>
          ) : (
            <Card withBorder padding={0} style={{ overflowX: "auto" }}>
              <Table verticalSpacing={8} miw={860} aria-label="Replays">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Replay</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th ta="right">Records</Table.Th>
                    <Table.Th>Had their turn</Table.Th>
                    <Table.Th>What became of them</Table.Th>
                    <Table.Th>By</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.map((p) => (
                    <Line key={p.job} p={p} />
                  ))}
                </Table.Tbody>
              </Table>
            </Card>
          )
        }
      </Await>
      <ActList />
    </Page>
  );
}

function Line({ p }: { p: Progress }) {
  const turns = sum(p.results);
  const at = plannedAt(p.job);
  const said = (pairs: [string, string][], m: Record<string, number>) =>
    pairs
      .filter(([k]) => m[k])
      .map(([k, w]) => `${count(m[k]!)} ${w}`)
      .join(", ");
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/replays/${p.job}`} size="sm" className="mono">
          {p.job}
        </Anchor>
        <Text size="xs" c="dimmed">
          planned {at ? <When t={at} /> : ""}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge state={p.state} />
        <Text size="xs" c="dimmed">
          {p.state === "stopped" && p.stop ? (stops[p.stop.code]?.why ?? p.stop.code) : p.phase && p.state === "running" ? phases[p.phase]?.name : p.state === "planned" ? (p.needs_approval && !p.approved_by ? "Takes a second person" : "Waits to be run") : ""}
        </Text>
      </Table.Td>
      <Table.Td ta="right" className="figure">
        {count(p.items)}
      </Table.Td>
      <Table.Td className="figure" miw={160}>
        {p.started_at ? (
          <>
            <Bar value={(turns / Math.max(p.items, 1)) * 100} size={6} aria-hidden />
            <Text size="xs">
              {said(
                results.map(([k, w]) => [k, w.did]),
                p.results,
              ) || "none yet"}
            </Text>
          </>
        ) : (
          <Text size="xs" c="dimmed">
            {p.dry_run ? `Dry run: ${said(results.map(([k, w]) => [k, w.would]), p.dry_run)}` : "–"}
          </Text>
        )}
      </Table.Td>
      <Table.Td className="figure">
        <Text size="xs">
          {said(
            ends.map(([k, w]) => [k, w]),
            p.ends,
          )}
          {p.under_way > 0 ? ` ${count(p.under_way)} under way` : ""}
        </Text>
      </Table.Td>
      <Table.Td>
        {p.runner ?? "–"}
        {p.approved_by && (
          <Text size="xs" c="dimmed">
            approved by {p.approved_by}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
