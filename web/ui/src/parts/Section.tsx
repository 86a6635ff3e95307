import { Card, Group, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** A named part of a page. */
export function Section({ title, more, children }: { title: string; more?: ReactNode; children: ReactNode }) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {more}
      </Group>
      {children}
    </Card>
  );
}
