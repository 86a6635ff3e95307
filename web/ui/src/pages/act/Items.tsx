import { Anchor, Button, Group, NativeSelect, Table } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { acts, label, type Plan, type Progress, results } from "@/parts/acts";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { Section } from "@/parts/Section";
import { count, dollars } from "@/parts/words";

const page = 100;

/** The records of an act and what became of each, in the plan's order; a page at a time. */
export function Items({ plan, p }: { plan: Plan; p: Progress }) {
  const [which, setWhich] = useState("");
  const [froms, setFroms] = useState<number[]>([0]);
  const from = froms.at(-1) ?? 0;
  const ran = p.started_at !== undefined;
  const [by, value] = which.split("=");
  const q = useQuery({
    queryKey: ["act-items", plan.id, which, from],
    queryFn: () => got(api.GET("/v1/acts/{id}/items", { params: { path: { id: plan.id }, query: { from, limit: page, ...(value ? { [by!]: value } : {}) } as { from: number; limit: number } }, headers: background })),
    refetchInterval: p.state === "running" ? 5_000 : false,
    placeholderData: keepPreviousData,
  });
  const data = [
    { value: "", label: "All" },
    ...results.filter(([k]) => plan.verdicts[k]).map(([k, r]) => ({ value: `verdict=${k}`, label: `As planned: ${r.would} (${count(plan.verdicts[k]!)})` })),
    ...results.filter(([k]) => p.results[k]).map(([k, r]) => ({ value: `result=${k}`, label: `Turn: ${r.did(acts[plan.act])} (${count(p.results[k]!)})` })),
  ];
  return (
    <Section
      title="Record by record"
      more={
        <Group gap="xs">
          <NativeSelect
            size="xs"
            w={260}
            aria-label="Which records"
            value={which}
            data={data}
            onChange={(e) => {
              setWhich(e.currentTarget.value);
              setFroms([0]);
            }}
          />
          <Button size="compact-sm" variant="default" disabled={froms.length < 2} onClick={() => setFroms((f) => f.slice(0, -1))}>
            Before
          </Button>
          <Button size="compact-sm" variant="default" disabled={q.data?.next === undefined} onClick={() => setFroms((f) => [...f, q.data!.next!])}>
            Next
          </Button>
        </Group>
      }
    >
      <Await query={q} lines={6}>
        {(d) =>
          d.items.length === 0 ? (
            <Empty title="None of them" />
          ) : (
            <Table.ScrollContainer minWidth={560}>
              <Table verticalSpacing={4} aria-label="Records of the act">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Record</Table.Th>
                    <Table.Th>Cause</Table.Th>
                    <Table.Th ta="right">Claims</Table.Th>
                    <Table.Th ta="right">Amount</Table.Th>
                    <Table.Th>As planned</Table.Th>
                    {ran && <Table.Th>When its turn came</Table.Th>}
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
                      <Table.Td className="mono">{plan.causes[x.cause]?.error_detail || plan.causes[x.cause]?.reason_code || "–"}</Table.Td>
                      <Table.Td ta="right" className="figure">
                        {count(x.claims)}
                      </Table.Td>
                      <Table.Td ta="right" className="figure">
                        {dollars(x.amount_cents)}
                      </Table.Td>
                      <Table.Td>{results.find(([k]) => k === x.verdict)?.[1].would ?? "–"}</Table.Td>
                      {ran && <Table.Td>{x.result ? label(plan.act, x.result) : "not yet"}</Table.Td>}
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )
        }
      </Await>
    </Section>
  );
}
