import { Progress, Stack, Text } from "@mantine/core";
import { count } from "@/parts/words";

interface Bar {
  label: string;
  n: number;
  color: string;
}

/** Shares of a whole as one bar, and below it in figures: the colour alone says nothing. */
export function Bars({ label, bars, total }: { label: string; bars: Bar[]; total: number }) {
  const seen = bars.filter((b) => b.n > 0);
  const said = seen.map((b) => `${count(b.n)} ${b.label}`).join(", ");
  return (
    <Stack gap={4}>
      <Progress.Root size={14} role="img" aria-label={`${label}: ${said || "none yet"}`}>
        {seen.map((b) => (
          <Progress.Section key={b.label} value={(b.n / Math.max(total, 1)) * 100} color={b.color} aria-hidden />
        ))}
      </Progress.Root>
      <Text size="sm" className="figure">
        <strong>{label}</strong>: {said || "none yet"}
        {seen.length > 0 ? "." : ""}
      </Text>
    </Stack>
  );
}
