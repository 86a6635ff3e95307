import { Anchor, Card, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { acts, results } from "@/parts/acts";
import { Await } from "@/parts/Await";
import { StateBadge } from "@/parts/Badges";
import { When } from "@/parts/When";
import { count } from "@/parts/words";
import { plannedAt } from "../replay/say";

/** Acts on many records that are no replays, the newest first; none where there were none. */
export function ActList() {
  const q = useQuery({
    queryKey: ["acts"],
    queryFn: async () => (await got(api.GET("/v1/acts", { params: { query: { limit: 100 } }, headers: background }))).acts,
    refetchInterval: 5_000,
  });
  if (q.data?.length === 0) return null;
  return (
    <section aria-label="Other acts on many">
      <Title order={2} size="h4" mb="xs">
        Parked, given back, written off, asked about
      </Title>
      <Await query={q} lines={3}>
        {(all) => (
          <Card withBorder padding={0} style={{ overflowX: "auto" }}>
            <Table verticalSpacing={8} miw={640} aria-label="Acts on many records">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Act</Table.Th>
                  <Table.Th>State</Table.Th>
                  <Table.Th ta="right">Records</Table.Th>
                  <Table.Th>What became of them</Table.Th>
                  <Table.Th>By</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {all.map((p) => (
                  <Table.Tr key={p.job}>
                    <Table.Td>
                      <Anchor component={Link} href={`/acts/${p.job}`} size="sm">
                        {acts[p.act].title} <span className="mono">{p.job}</span>
                      </Anchor>
                      <Text size="xs" c="dimmed">
                        planned <When t={plannedAt(p.job) ?? undefined} />
                      </Text>
                    </Table.Td>
                    <Table.Td>
                      <StateBadge state={p.state} />
                      {p.state === "planned" && (
                        <Text size="xs" c="dimmed">
                          {p.needs_approval && !p.approved_by ? "Takes a second person" : "Waits to be run"}
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td ta="right" className="figure">
                      {count(p.items)}
                    </Table.Td>
                    <Table.Td className="figure">
                      {results
                        .filter(([k]) => p.results[k])
                        .map(([k, r]) => `${count(p.results[k]!)} ${r.did(acts[p.act])}`)
                        .join(", ") || "–"}
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
                ))}
              </Table.Tbody>
            </Table>
          </Card>
        )}
      </Await>
    </section>
  );
}
