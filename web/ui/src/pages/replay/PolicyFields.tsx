import { Anchor, Collapse, SimpleGrid, Stack, Checkbox, Text } from "@mantine/core";
import { useState } from "react";
import { NumberField } from "@/parts/NumberField";
import { count, span } from "@/parts/words";
import type { Policy } from "./say";

export const defaults: Required<Policy> = {
  unchanged: false,
  canary: 5,
  canary_wait_seconds: 900,
  start_rate: 1,
  max_rate: 50,
  step_seconds: 30,
  window: 100,
  window_min: 10,
  stop_same_cause: 0.2,
  stop_failures: 0.5,
  watch_for_seconds: 72 * 3600,
};

/** How a job releases, in one sentence. */
export function sayPolicy(given: Policy): string {
  const p = { ...defaults, ...given };
  const canary = p.canary > 0 ? `${count(p.canary)} first as canaries, then ` : "";
  return `${canary}${p.start_rate} a second, doubled every ${span(p.step_seconds * 1000)} up to ${p.max_rate} a second. It stops by itself if ${Math.round(p.stop_same_cause * 100)} % come back with the same cause, or ${Math.round(p.stop_failures * 100)} % at all.${p.unchanged ? " Claims that were refused go out as they are." : ""}`;
}

/** How fast, with what care, and when to stop. The defaults are good for most; they are behind "Change". */
export function PolicyFields({ value, onChange }: { value: Required<Policy>; onChange: (p: Required<Policy>) => void }) {
  const [open, setOpen] = useState(false);
  const set = (k: keyof Policy) => (v: string | number) => onChange({ ...value, [k]: typeof v === "number" ? v : Number(v) || 0 });
  return (
    <Stack gap="xs">
      <Text size="sm">
        {sayPolicy(value)}{" "}
        <Anchor component="button" type="button" size="sm" aria-expanded={open} onClick={() => setOpen((o) => !o)}>
          {open ? "Less" : "Details"}
        </Anchor>
      </Text>
      <Collapse expanded={open}>
        <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
          <NumberField size="xs" label="Canaries" description="−1: none" min={-1} max={1000} value={value.canary} onChange={set("canary")} />
          <NumberField size="xs" label="Wait for them" description="Seconds at most" min={1} max={604800} value={value.canary_wait_seconds} onChange={set("canary_wait_seconds")} />
          <NumberField size="xs" label="First rate" description="A second" min={0.001} max={10000} value={value.start_rate} onChange={set("start_rate")} />
          <NumberField size="xs" label="Highest rate" description="A second" min={0.001} max={10000} value={value.max_rate} onChange={set("max_rate")} />
          <NumberField size="xs" label="Double every" description="Seconds" min={1} max={604800} value={value.step_seconds} onChange={set("step_seconds")} />
          <NumberField size="xs" label="Stop at same cause" description="Percent; over 100: never" min={1} max={200} value={Math.round(value.stop_same_cause * 100)} onChange={(v) => set("stop_same_cause")(Number(v) / 100)} />
          <NumberField size="xs" label="Stop at failures" description="Percent; over 100: never" min={1} max={200} value={Math.round(value.stop_failures * 100)} onChange={(v) => set("stop_failures")(Number(v) / 100)} />
          <NumberField size="xs" label="Judge the latest" description="Ends" min={1} max={10000} value={value.window} onChange={set("window")} />
          <NumberField size="xs" label="Once there are" description="Ends" min={1} max={10000} value={value.window_min} onChange={set("window_min")} />
          <NumberField size="xs" label="Watch for" description="Hours after the last" min={1} max={720} value={value.watch_for_seconds / 3600} onChange={(v) => set("watch_for_seconds")(Number(v) * 3600)} />
        </SimpleGrid>
      </Collapse>
      <Checkbox
        size="sm"
        checked={value.unchanged}
        onChange={(e) => onChange({ ...value, unchanged: e.currentTarget.checked })}
        label="Release as they are"
        description="For claims that were refused although nothing is wrong in them: the cause lay outside and is gone. Without it, such a claim is released only once it is corrected."
      />
    </Stack>
  );
}
