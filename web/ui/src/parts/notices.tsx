import { CloseButton, Group, Paper, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";

interface Notice {
  id: number;
  message: string;
  color: string;
}

let last = 0;
let tell: (n: Notice) => void = () => undefined;

/** Says what was done, for some seconds. What has failed is said where it was asked for, not here. */
export function say(message: string, color = "green") {
  last++;
  tell({ id: last, message, color });
}

const shownFor = 6_000;

/** Where notices are shown: a live region that screen readers read without losing the place. */
export function Notices() {
  const [all, set] = useState<Notice[]>([]);
  useEffect(() => {
    tell = (n) => {
      set((x) => [...x.slice(-3), n]);
      setTimeout(() => set((x) => x.filter((y) => y.id !== n.id)), shownFor);
    };
    return () => {
      tell = () => undefined;
    };
  }, []);
  return (
    <Stack gap="xs" role="status" aria-live="polite" className="notices">
      {all.map((n) => (
        <Paper key={n.id} withBorder shadow="md" p="sm" className="notice" style={{ borderLeftColor: `var(--mantine-color-${n.color}-7)` }}>
          <Group justify="space-between" wrap="nowrap">
            <Text size="sm">{n.message}</Text>
            <CloseButton size="sm" aria-label="Close" onClick={() => set((x) => x.filter((y) => y.id !== n.id))} />
          </Group>
        </Paper>
      ))}
    </Stack>
  );
}
