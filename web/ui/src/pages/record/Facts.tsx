import { Anchor, Group, SimpleGrid, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { StateBadge } from "@/parts/Badges";
import { Copy } from "@/parts/Copy";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { count, dollars, many, name } from "@/parts/words";

type Record = Schemas["Record"];

/** The address of the records that share a record's cause. */
export function sameCause(r: Record): string {
  const q = new URLSearchParams({ state: r.state, stream: r.stream });
  if (r.reason_code) q.set("reason", r.reason_code);
  if (r.error_detail) q.set("detail", r.error_detail);
  if (r.partner) q.set("partner", r.partner);
  return `/records?${q}`;
}

/** What a record is called, by us and by others. */
export function Identifiers({ r }: { r: Record }) {
  const rows: [string, string | number | undefined][] = [
    ["Record", r.id],
    ["Key", r.stream !== "ncpdp" && r.ordinal ? `${r.key}:${r.ordinal}` : r.key], // as the command line has it: the set's numbers alone name several
    ["Partner", r.partner],
    ["Sender", r.sender],
    [r.stream === "ncpdp" ? "Batch" : "Interchange (ISA13)", r.interchange_id],
    ["Group (GS06)", r.group_id],
    [r.stream === "ncpdp" ? "Transaction code" : "Set (ST02)", r.transaction_id],
    ["Place in its set", r.ordinal],
    ["Rules", r.rule_version],
  ];
  return (
    <Section title="Identifiers">
      <Table verticalSpacing={2} aria-label="Identifiers">
        <Table.Tbody>
          {rows
            .filter(([, v]) => v !== undefined && v !== "")
            .map(([k, v]) => (
              <Table.Tr key={k}>
                <Table.Th fw={400} c="dimmed">
                  {k}
                </Table.Th>
                <Table.Td>
                  <Group gap={4} wrap="nowrap">
                    <span className="mono breakable">{v}</span>
                    <Copy value={String(v)} what={k.toLowerCase()} />
                  </Group>
                </Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}

/** How much, how often, which revision. */
export function Figures({ d }: { d: Schemas["RecordDetails"] }) {
  const r = d.record;
  return (
    <Section title="In figures">
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="sm" className="figure">
        <Figure label="Claims" value={count(r.claims)} />
        <Figure label="Charged" value={dollars(r.amount_cents)} />
        <Figure label="Deliveries" value={`${count(r.receive_count)} of ${count(d.limits.max_receive)}`} note={`${many(r.attempt_count, "in all", "in all")}`} />
        <Figure label="Replays" value={`${count(r.replay_count)} of ${count(d.limits.replays)}`} note="then it is parked" />
        <Figure label="Revision" value={count(r.payload_revision)} note={r.refused_revision ? `revision ${r.refused_revision} was refused` : r.payload_revision > 1 ? "corrected" : "as it came"} />
        <Figure label="Came in" value={<When t={r.created_at} />} />
      </SimpleGrid>
    </Section>
  );
}

function Figure({ label, value, note }: { label: string; value: ReactNode; note?: string }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fw={600}>{value}</Text>
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}

/** The claims of a set that have records of their own, or the set that a claim parted from. */
export function Family({ d }: { d: Schemas["RecordDetails"] }) {
  const r = d.record;
  if (r.parent) {
    return (
      <Section title="Its set">
        <Text size="sm">
          Claim {r.ordinal} of a set. The others of the set go their own way:{" "}
          <Anchor component={Link} href={`/records/${r.parent}`}>
            record {r.parent}
          </Anchor>
          .
        </Text>
      </Section>
    );
  }
  if (d.claims.length === 0) return null;
  return (
    <Section title={`${many(d.claims.length, "claim")} of it with a fate of their own`}>
      <Table.ScrollContainer minWidth={420} mah={320}>
        <Table verticalSpacing={4} aria-label="Claims with records of their own">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Claim</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Cause</Table.Th>
              <Table.Th ta="right">Charged</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {d.claims.map((c) => (
              <Table.Tr key={c.id}>
                <Table.Td>
                  <Anchor component={Link} href={`/records/${c.id}`} size="sm">
                    Claim {c.ordinal}, record {c.id}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <StateBadge state={c.state} />
                </Table.Td>
                <Table.Td className="mono">{c.error_detail || name(c.reason_code ?? "")}</Table.Td>
                <Table.Td ta="right" className="figure">
                  {dollars(c.amount_cents)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );
}
