import { Group, Loader, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";

export function Loading({ label = "Loading" }: { label?: string }) {
  return (
    <Group role="status" p="md" gap="sm">
      <Loader size="sm" aria-hidden />
      <Text size="sm" c="dimmed">
        {label} …
      </Text>
    </Group>
  );
}

/** Stands where lines will be. */
export function LoadingLines({ lines = 6, height = 28 }: { lines?: number; height?: number }) {
  return (
    <Stack gap="xs" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: lines }, (_, i) => (
        <Skeleton key={i} height={height} radius="sm" />
      ))}
    </Stack>
  );
}
