import { Card, Code, Group, Table, Text, Title } from "@mantine/core";
import { ReasonBadge, StateBadge } from "@/parts/Badges";
import { Fact } from "@/parts/Beside";
import { useMeanings } from "@/parts/useGroups";
import { When } from "@/parts/When";
import { count, dollars, name } from "@/parts/words";
import { sayPolicy } from "./PolicyFields";
import type { Plan } from "./say";

/** A plan of a replay, or of another act on many: that has neither rules nor a way of releasing. */
type Frozen = Pick<Plan, "items" | "claims" | "cents" | "author" | "at" | "causes" | "more_causes" | "digest"> & Partial<Pick<Plan, "rules" | "policy">>;

/** What was frozen: exactly this is done, or nothing. */
export function PlanCard({ plan, level = 2 }: { plan: Frozen; level?: 2 | 3 }) {
  const meanings = useMeanings();
  return (
    <Card withBorder component="section" aria-label="Plan">
      <Title order={level} size="h4" mb="xs">
        What is planned
      </Title>
      <Group gap="xl" align="flex-start" mb="sm" className="figure">
        <Fact label="Records">{count(plan.items)}</Fact>
        <Fact label="Claims">{count(plan.claims)}</Fact>
        <Fact label="Money">{dollars(plan.cents)}</Fact>
        <Fact label="By">
          {plan.author}, <When t={plan.at} />
        </Fact>
        {plan.rules && (
          <Fact label="Rules">
            {Object.entries(plan.rules).map(([s, v]) => (
              <div key={s}>
                {name(s)} <span className="mono">{v}</span>
              </div>
            ))}
          </Fact>
        )}
      </Group>
      {plan.policy && (
        <Text size="sm" mb="sm">
          {sayPolicy(plan.policy)}
        </Text>
      )}
      <div style={{ overflowX: "auto" }} role="group" aria-label="Causes" tabIndex={0}>
        <Table verticalSpacing={4} miw={560} aria-label="Causes of the plan">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Cause</Table.Th>
              <Table.Th>Partner</Table.Th>
              <Table.Th ta="right">Records</Table.Th>
              <Table.Th ta="right">Claims</Table.Th>
              <Table.Th ta="right">Money</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {plan.causes.map((c, i) => (
              <Table.Tr key={i}>
                <Table.Td>
                  <Group gap={6}>
                    {meanings[c.error_detail] && <Text size="sm">{meanings[c.error_detail]}</Text>}
                    <span className="mono">{c.error_detail}</span>
                    {c.state && <StateBadge state={c.state} />}
                    <ReasonBadge reason={c.reason_code} />
                  </Group>
                </Table.Td>
                <Table.Td className="mono">{c.partner || "–"}</Table.Td>
                <Table.Td ta="right" className="figure">
                  {count(c.items)}
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  {count(c.claims)}
                </Table.Td>
                <Table.Td ta="right" className="figure">
                  {dollars(c.cents)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {plan.more_causes !== undefined && plan.more_causes > 0 && <Text size="sm">and {count(plan.more_causes)} more causes.</Text>}
      <Text size="xs" c="dimmed" mt="sm">
        Digest of every record and revision: <Code style={{ overflowWrap: "anywhere" }}>{plan.digest}</Code>
      </Text>
    </Card>
  );
}
