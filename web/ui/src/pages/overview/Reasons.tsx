import { Anchor, Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { format, reasons } from "@/parts/filter";
import { Section } from "@/parts/Section";
import { count, name } from "@/parts/words";

/** Why records are in quarantine: every reason, and the way to those that are there for it. */
export function Reasons({ by }: { by: Schemas["Overview"]["quarantined_by_reason"] }) {
  const most = Math.max(1, ...Object.values(by));
  return (
    <Section title="In quarantine, by reason">
      <Table verticalSpacing={4} aria-label="Records in quarantine by reason">
        <Table.Tbody>
          {reasons.map((r) => (
            <Table.Tr key={r}>
              <Table.Td>
                <Anchor component={Link} href={`/records?${format({ state: "quarantined", reason: r } as never)}`} size="sm">
                  {name(r)}
                </Anchor>
              </Table.Td>
              <Table.Td w="40%">
                <div className="bar" aria-hidden>
                  <span style={{ width: `${((by[r] ?? 0) / most) * 100}%` }} />
                </div>
              </Table.Td>
              <Table.Td ta="right" className="figure">
                {count(by[r] ?? 0)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}
