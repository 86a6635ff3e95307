import { ActionIcon, Card, Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";

type Rule = Schemas["Rule"];
type RxRule = Schemas["RxRule"];

const quiet = { autoComplete: "off", spellCheck: false, "data-1p-ignore": true, size: "xs", classNames: { input: "mono" } } as const;

/** A place from 1 to 99; anything else is none. */
const whole = (s: string): number | undefined => (/^[1-9][0-9]?$/.test(s) ? Number(s) : undefined);

function Frame({ n, children, onRemove }: { n: number; children: ReactNode; onRemove: () => void }) {
  return (
    <Card withBorder padding="sm" role="group" aria-label={`Rule ${n}`}>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Group gap="xs" align="flex-end">
          {children}
        </Group>
        <ActionIcon variant="subtle" color="gray" aria-label={`Remove rule ${n}`} onClick={onRemove}>
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
    </Card>
  );
}

/** A rule for interchanges. */
export function RuleFields({ n, u, onChange, onRemove }: { n: number; u: Rule; onChange: (u: Rule) => void; onRemove: () => void }) {
  const put = (more: Partial<Rule>) => onChange({ ...u, ...more });
  const first = u.where?.[0];
  const changes = u.op === "set" || u.op === "replace";
  return (
    <Frame n={n} onRemove={onRemove}>
      <NativeSelect
        size="xs"
        label="What"
        value={u.op}
        onChange={(e) => put({ op: e.currentTarget.value as Rule["op"] })}
        data={[
          { value: "set", label: "Set an element" },
          { value: "replace", label: "Replace a value" },
          { value: "insert_after", label: "Insert a segment behind" },
          { value: "delete", label: "Delete" },
        ]}
      />
      <TextInput {...quiet} w={76} label="Segment" value={u.segment} maxLength={3} onChange={(e) => put({ segment: e.currentTarget.value.toUpperCase() })} />
      <TextInput {...quiet} w={84} label="Loop" placeholder="any" value={u.loop ?? ""} maxLength={6} onChange={(e) => put({ loop: e.currentTarget.value.toUpperCase() || undefined })} />
      <TextInput
        {...quiet}
        w={110}
        label="Where 01 is"
        placeholder="anything"
        value={first?.element === 1 ? first.value : ""}
        onChange={(e) => put({ where: e.currentTarget.value ? [{ element: 1, value: e.currentTarget.value }, ...(u.where ?? []).filter((m) => m.element !== 1)] : (u.where ?? []).filter((m) => m.element !== 1) })}
      />
      {u.op !== "insert_after" && (
        <>
          <TextInput {...quiet} w={84} label="Element" inputMode="numeric" maxLength={2} value={u.element ?? ""} onChange={(e) => put({ element: whole(e.currentTarget.value) })} />
          <TextInput {...quiet} w={100} label="Component" placeholder="whole" inputMode="numeric" maxLength={2} value={u.component ?? ""} onChange={(e) => put({ component: whole(e.currentTarget.value) })} />
        </>
      )}
      {u.op === "replace" && <TextInput {...quiet} w={150} label="That is now" value={u.equals ?? ""} onChange={(e) => put({ equals: e.currentTarget.value })} />}
      {changes && <TextInput {...quiet} w={170} label="Becomes" value={u.value ?? ""} onChange={(e) => put({ value: e.currentTarget.value })} />}
      {u.op === "insert_after" && <TextInput {...quiet} w={300} label="New segment" placeholder="HI*ABK:…" value={u.text ?? ""} onChange={(e) => put({ text: e.currentTarget.value })} />}
      {(u.where?.filter((m) => m.element !== 1).length ?? 0) > 0 && <Text size="xs">and further conditions</Text>}
    </Frame>
  );
}

/** A rule for pharmacy claims. */
export function RxRuleFields({ n, u, onChange, onRemove }: { n: number; u: RxRule; onChange: (u: RxRule) => void; onRemove: () => void }) {
  const put = (more: Partial<RxRule>) => onChange({ ...u, ...more });
  return (
    <Frame n={n} onRemove={onRemove}>
      <NativeSelect
        size="xs"
        label="What"
        value={u.op}
        onChange={(e) => put({ op: e.currentTarget.value as RxRule["op"] })}
        data={[
          { value: "set", label: "Set a field" },
          { value: "replace", label: "Replace a value" },
          { value: "insert", label: "Insert" },
          { value: "delete", label: "Delete" },
        ]}
      />
      <TextInput {...quiet} w={84} label="Segment" placeholder="header" maxLength={2} value={u.segment ?? ""} onChange={(e) => put({ segment: e.currentTarget.value || undefined })} />
      <TextInput {...quiet} w={76} label="Field" placeholder="D7" maxLength={2} value={u.field ?? ""} onChange={(e) => put({ field: e.currentTarget.value.toUpperCase() || undefined })} />
      {u.op === "replace" && <TextInput {...quiet} w={150} label="That is now" value={u.equals ?? ""} onChange={(e) => put({ equals: e.currentTarget.value })} />}
      {u.op !== "delete" && u.field && <TextInput {...quiet} w={170} label="Becomes" value={u.value ?? ""} onChange={(e) => put({ value: e.currentTarget.value })} />}
    </Frame>
  );
}
