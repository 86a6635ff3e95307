import { Stack, Text, ThemeIcon } from "@mantine/core";
import { IconCircleCheck } from "@tabler/icons-react";
import type { ReactNode } from "react";

/** Stands where nothing is: says whether that is good, and what to do next. */
export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py="xl" px="md">
      <ThemeIcon size={44} radius="xl" variant="light" color="gray" aria-hidden>
        {icon ?? <IconCircleCheck />}
      </ThemeIcon>
      <Text fw={600}>{title}</Text>
      {children && (
        <Text size="sm" c="dimmed" ta="center" maw={520} component="div">
          {children}
        </Text>
      )}
    </Stack>
  );
}
