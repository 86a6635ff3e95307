import { Table, Text } from "@mantine/core";
import type { Schemas } from "@/api/client";
import { Section } from "@/parts/Section";
import { count, name } from "@/parts/words";

/** How fast claims come in, and how fast they fail: the figure that the alarm looks at, and where it rings. */
export function Rates({ rates }: { rates?: Schemas["Rates"] }) {
  return (
    <Section title="In the last minute">
      {!rates ? (
        <Text size="sm" c="dimmed">
          Not known yet: a rate takes two looks at the figures, some seconds apart.
        </Text>
      ) : (
        <Table verticalSpacing={4} aria-label="Rates">
          <Table.Tbody>
            <Rate of="Claims taken in" n={rates.received_per_minute} />
            {rates.dead_lettered_per_minute.map((d) => (
              <Rate key={d.stream} of={`More in quarantine: ${name(d.stream)}`} n={d.rise} alarm={d.alarm_at} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Section>
  );
}

function Rate({ of, n, alarm }: { of: string; n: number; alarm?: number }) {
  const rings = alarm !== undefined && n >= alarm;
  return (
    <Table.Tr>
      <Table.Th fw={400}>{of}</Table.Th>
      <Table.Td ta="right" className="figure">
        <Text size="sm" fw={700} c={rings ? "var(--fault)" : undefined}>
          {count(n)} a minute
        </Text>
        {alarm !== undefined && (
          <Text size="xs" c="dimmed">
            {rings && "rings: "}alarm from {count(alarm)} a minute
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
