import { Anchor, Button, Group, NativeSelect, Table, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { count, dollars } from "@/parts/words";
import { ends, type Plan, type Progress, results } from "./say";

export interface Which {
  by: "verdict" | "result" | "end";
  value: string;
}

const page = 100;

const query = (w: Which | null, from: number) => ({ from, limit: page, ...(w ? { [w.by]: w.value } : {}) }) as { from: number; limit: number };

/** The records of a job and what became of each, in the plan's order; a page at a time. */
export function Items({ plan, progress, which, onWhich }: { plan: Plan; progress: Progress; which: Which | null; onWhich: (w: Which | null) => void }) {
  const [froms, setFroms] = useState<number[]>([0]);
  const key = which ? `${which.by}=${which.value}` : "";
  useEffect(() => setFroms([0]), [key]);
  const from = froms.at(-1) ?? 0;
  const q = useQuery({
    queryKey: ["replay-items", plan.id, key, from],
    queryFn: () => got(api.GET("/v1/replays/{id}/items", { params: { path: { id: plan.id }, query: query(which, from) }, headers: background })),
    refetchInterval: progress.state === "running" ? 5_000 : false,
    placeholderData: keepPreviousData,
  });
  const ran = progress.started_at !== undefined;
  const data = [
    { value: "", label: "All" },
    ...results.filter(([k]) => progress.dry_run?.[k]).map(([k, w]) => ({ value: `verdict=${k}`, label: `Dry run: ${w.would} (${count(progress.dry_run![k]!)})` })),
    ...results.filter(([k]) => progress.results[k]).map(([k, w]) => ({ value: `result=${k}`, label: `Turn: ${w.did} (${count(progress.results[k]!)})` })),
    ...ends.filter(([k]) => progress.ends[k]).map(([k, w]) => ({ value: `end=${k}`, label: `End: ${w} (${count(progress.ends[k]!)})` })),
  ];
  return (
    <>
      <Group justify="space-between" mb="xs">
        <NativeSelect
          size="xs"
          w={300}
          aria-label="Which records"
          value={key}
          data={data.some((d) => d.value === key) ? data : [...data, { value: key, label: key }]}
          onChange={(e) => {
            const [by, value] = e.currentTarget.value.split("=");
            onWhich(by && value ? ({ by, value } as Which) : null);
          }}
        />
        <Group gap="xs">
          <Button size="compact-sm" variant="default" disabled={froms.length < 2} onClick={() => setFroms((f) => f.slice(0, -1))}>
            Before
          </Button>
          <Button size="compact-sm" variant="default" disabled={q.data?.next === undefined} onClick={() => setFroms((f) => [...f, q.data!.next!])}>
            Next
          </Button>
        </Group>
      </Group>
      <Await query={q} lines={6}>
        {(d) =>
          d.items.length === 0 ? (
            <Empty title="None of them" />
          ) : (
            <div style={{ overflowX: "auto" }}>
              <Table verticalSpacing={4} miw={640} aria-label="Records of the replay">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Record</Table.Th>
                    <Table.Th>Cause</Table.Th>
                    <Table.Th ta="right">Claims</Table.Th>
                    <Table.Th ta="right">Amount</Table.Th>
                    <Table.Th>Dry run</Table.Th>
                    {ran && <Table.Th>When its turn came</Table.Th>}
                    {ran && <Table.Th>What became of it</Table.Th>}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {d.items.map((x) => (
                    <Table.Tr key={x.index}>
                      <Table.Td className="figure">
                        <Anchor component={Link} href={`/records/${x.record}`} size="sm">
                          {x.record}
                        </Anchor>
                      </Table.Td>
                      <Table.Td>
                        <span className="mono">{plan.causes[x.cause] ? plan.causes[x.cause]!.error_detail || plan.causes[x.cause]!.reason_code : "–"}</span>
                      </Table.Td>
                      <Table.Td ta="right" className="figure">
                        {count(x.claims)}
                      </Table.Td>
                      <Table.Td ta="right" className="figure">
                        {dollars(x.amount_cents)}
                      </Table.Td>
                      <Table.Td>{results.find(([k]) => k === x.verdict)?.[1].would ?? "–"}</Table.Td>
                      {ran && <Table.Td>{results.find(([k]) => k === x.result)?.[1].did ?? (x.result || "not yet")}</Table.Td>}
                      {ran && <Table.Td>{ends.find(([k]) => k === x.end)?.[1] ?? (x.result === "replayed" ? "under way" : "–")}</Table.Td>}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )
        }
      </Await>
      <Text size="xs" c="dimmed" mt={4}>
        {count(plan.items)} in the plan, the oldest first.
      </Text>
    </>
  );
}
