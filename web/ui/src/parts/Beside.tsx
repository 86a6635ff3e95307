import { Anchor, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { api, background, got, type Schemas } from "@/api/client";
import { Await } from "./Await";
import { StateBadge } from "./Badges";

export type Details = Schemas["RecordDetails"];

/** All there is to say about the line somebody is on, beside the list. It is read once he stays there. */
export function Beside({ id, onRead, children }: { id: number | null; onRead?: (r: Schemas["Record"]) => void; children: (d: Details) => ReactNode }) {
  const [settled, setSettled] = useState(id);
  useEffect(() => {
    const t = setTimeout(() => setSettled(id), 150);
    return () => clearTimeout(t);
  }, [id]);
  const q = useQuery({
    queryKey: ["record", settled],
    queryFn: () => got(api.GET("/v1/records/{id}", { params: { path: { id: settled! } }, headers: background })),
    enabled: settled !== null,
  });
  const r = q.data?.record;
  useEffect(() => {
    if (r) onRead?.(r);
  }, [r, onRead]);
  if (settled === null) return null;
  return (
    <Card withBorder padding="md" component="section" aria-label="The chosen record">
      <Await query={q} lines={6}>
        {(d) => (
          <Stack gap="sm">
            <Group justify="space-between">
              <Title order={2} size="h4">
                Record {d.record.id}
              </Title>
              <StateBadge state={d.record.state} />
            </Group>
            {children(d)}
            <Text size="sm">
              <Anchor component={Link} href={`/records/${d.record.id}`} size="sm">
                All about it
              </Anchor>
            </Text>
          </Stack>
        )}
      </Await>
    </Card>
  );
}

/** A fact: what it is about, and what is known. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}
