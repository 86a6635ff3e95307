import { ActionIcon, Badge, Box, Button, Group, Table, Text, TextInput } from "@mantine/core";
import { IconArrowBackUp, IconLock, IconPlus, IconTrash, IconX } from "@tabler/icons-react";
import { memo, useState } from "react";
import type { Schemas } from "@/api/client";
import { overpunched } from "./money";
import { cellKey, type Change, type ShownCell, type ShownSeg } from "./model";

type Finding = Schemas["Finding"];

export interface Tools {
  rx: boolean;
  /** Nothing can be changed: it is looked at only. */
  readOnly: boolean;
  set: (c: Change) => void;
  drop: (c: Change) => void;
  newId: () => number;
}

/** What a new segment begins with. Its codes are the guides'; what differs by claim is left out. */
const beginnings: Record<string, { text: string; help: string }> = {
  HI: { text: "HI*ABK:", help: "ABK: and the principal diagnosis in ICD-10-CM without its dot; more as *ABF: and a code" },
  REF: { text: "REF*", help: "What number it is, *, the number" },
  DTP: { text: "DTP*472*D8*", help: "472 date of service, D8 a day as CCYYMMDD" },
  DMG: { text: "DMG*D8*", help: "Birth date as CCYYMMDD, *, sex F, M or U" },
  PRV: { text: "PRV*BI*PXC*", help: "Taxonomy code at the end" },
  SBR: { text: "SBR*P*18*", help: "P primary, 18 self" },
};

interface Props {
  s: ShownSeg;
  open: boolean;
  tools: Tools;
  onToggle: (key: string) => void;
}

const same = (a: Props, b: Props): boolean => a.s.key === b.s.key && a.s.state === b.s.state && a.open === b.open && a.tools === b.tools && a.onToggle === b.onToggle;

/** A segment: its head always, its values only while it is open. The head is plain: a set has thousands. */
export const SegmentTable = memo(function SegmentTable({ s, open, tools, onToggle }: Props) {
  const bad = s.faults.length + (tools.rx ? s.missing.length : 0) + s.cells.reduce((n, c) => n + c.faults.length, 0);
  const changed = s.inserted !== undefined || s.deleted || s.cells.some((c) => c.changed || c.dropped);
  return (
    <div className="segment" data-deleted={s.deleted || undefined}>
      {!tools.rx && s.missing.map((f, i) => <Missing key={i} f={f} before={s} tools={tools} />)}
      <button type="button" className="segment-head" aria-expanded={open} onClick={() => onToggle(s.key)}>
        <span aria-hidden>{open ? "▾" : "▸"}</span>
        <span className="mono segment-code">{s.code || "–"}</span>
        <span className="segment-title">{s.title || (s.inserted ? "New segment" : "")}</span>
        {s.loop && (
          <span className="segment-loop">
            {s.loopName} {s.loop}
          </span>
        )}
        {s.locked && !tools.rx && <span className="segment-loop">locked: the system writes it</span>}
        {bad > 0 && (
          <Badge color="red" size="sm" variant="light" tt="none" className="badge">
            {bad === 1 ? "1 fault" : `${bad} faults`}
          </Badge>
        )}
        {changed && (
          <Badge color="yellow" size="sm" variant="light" tt="none" className="badge">
            {s.deleted ? "Deleted" : s.inserted ? "New" : "Changed"}
          </Badge>
        )}
        {!open && s.cells.length > 0 && (
          <span className="segment-loop mono" aria-hidden>
            ••••
          </span>
        )}
      </button>
      {open && <Body s={s} tools={tools} />}
    </div>
  );
}, same);

function Body({ s, tools }: { s: ShownSeg; tools: Tools }) {
  const frozen = tools.readOnly || s.deleted;
  return (
    <Box className="segment-body">
      {s.faults.map((f, i) => (
        <Text key={i} size="sm" c="var(--fault)" tabIndex={-1} data-fault>
          {f.meaning || f.code} <span className="mono">{f.code}</span>
        </Text>
      ))}
      {s.inserted && !tools.rx && <NewSegment c={s.inserted} tools={tools} />}
      {s.cells.length > 0 && (
        <Table verticalSpacing={3} className="cells" aria-label={`${s.code || "Header"} ${s.title}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w={92}>{tools.rx ? "Field" : "Element"}</Table.Th>
              <Table.Th>Name</Table.Th>
              <Table.Th>Value</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {s.cells.map((c) => (
              <CellRow key={c.key} c={c} frozen={frozen} tools={tools} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {tools.rx && s.missing.map((f, i) => <MissingField key={i} f={f} s={s} tools={tools} />)}
      {!tools.readOnly && <Foot s={s} tools={tools} />}
    </Box>
  );
}

function CellRow({ c, frozen, tools }: { c: ShownCell; frozen: boolean; tools: Tools }) {
  const fault = c.faults.map((f) => `${f.meaning || f.code}${f.hint ? `. ${f.hint}` : ""}`).join("; ");
  const label = `${c.code} ${c.name}`;
  const sum = c.faults.some((f) => f.code.endsWith(":MONEY")) ? overpunched(c.now) : null;
  const write = (value: string) => tools.set(c.added?.op === "field" ? { ...c.added, value } : { op: "set", cell: c.key, value });
  return (
    <Table.Tr data-changed={c.changed || undefined} data-bad={fault ? true : undefined}>
      <Table.Td className="mono">{c.code}</Table.Td>
      <Table.Td>
        <Text size="sm">{c.name.replace(/^\d{3}-[0-9A-Z]{2} /, "")}</Text>
        {c.meaning && !c.changed && (
          <Text size="xs" c="dimmed" className="figure">
            {c.meaning}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {c.locked || frozen || c.dropped ? (
          <Group gap={6} wrap="nowrap">
            <Text size="sm" className="mono breakable" td={c.dropped ? "line-through" : undefined}>
              {c.now || "–"}
            </Text>
            {c.locked && (
              <IconLock title={tools.rx ? "Locked: it says which fill this is, or the system writes it" : "Locked: the system writes it"} size={14} aria-label="Locked" />
            )}
            {c.dropped && <Back label={label} onClick={() => tools.set({ op: "set", cell: c.key, value: c.value })} />}
            {fault && (
              <Text size="sm" c="var(--fault)" tabIndex={-1} data-fault>
                {fault}
              </Text>
            )}
          </Group>
        ) : (
          <Group gap={4} wrap="nowrap" align="flex-start">
            <TextInput
              size="xs"
              flex={1}
              aria-label={label}
              value={c.now}
              onChange={(e) => write(e.currentTarget.value)}
              error={fault || undefined}
              data-fault={fault ? true : undefined}
              autoComplete="off"
              spellCheck={false}
              data-1p-ignore
              classNames={{ input: "mono" }}
            />
            {sum && (
              <Button title="Its sign in the last digit, as the standard writes amounts" size="compact-xs" mt={4} variant="light" onClick={() => write(sum)}>
                Write {sum}
              </Button>
            )}
            {c.added ? (
              <ActionIcon size="md" variant="subtle" color="gray" aria-label={`Take ${label} away`} onClick={() => tools.drop(c.added!)}>
                <IconX size={14} />
              </ActionIcon>
            ) : c.changed ? (
              <Back label={label} onClick={() => tools.set({ op: "set", cell: c.key, value: c.value })} />
            ) : tools.rx ? (
              <ActionIcon title="Delete the field" size="md" variant="subtle" color="gray" aria-label={`Delete ${label}`} onClick={() => tools.set({ op: "drop", cell: c.key })}>
                <IconTrash size={14} />
              </ActionIcon>
            ) : null}
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function Back({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <ActionIcon title="As it was" size="md" variant="subtle" color="gray" aria-label={`${label}: as it was`} onClick={onClick}>
      <IconArrowBackUp size={14} />
    </ActionIcon>
  );
}

function NewSegment({ c, tools }: { c: Extract<Change, { op: "insert" }>; tools: Tools }) {
  const id = c.text.split("*")[0]!;
  return (
    <TextInput
      size="xs"
      label="New segment"
      description={beginnings[id]?.help ?? "Elements apart by *, components by :, repetitions by ^, whatever the interchange itself uses"}
      value={c.text}
      onChange={(e) => tools.set({ ...c, text: e.currentTarget.value })}
      autoComplete="off"
      spellCheck={false}
      data-1p-ignore
      data-new={c.id}
      classNames={{ input: "mono" }}
    />
  );
}

function Missing({ f, before, tools }: { f: Finding; before: ShownSeg; tools: Tools }) {
  return (
    <Group className="missing" gap="sm" justify="space-between">
      <Text size="sm" c="var(--fault)">
        <b className="mono">{f.segment}</b> {f.segment_name} is missing here.
      </Text>
      {!tools.readOnly && f.segment && (
        <Button
          size="compact-sm"
          variant="light"
          data-fault
          onClick={() => tools.set({ op: "insert", id: tools.newId(), after: anchorOf(before), text: beginnings[f.segment!]?.text ?? `${f.segment}*` })}
        >
          Insert {f.segment}
        </Button>
      )}
    </Group>
  );
}

/** What is missing before a segment goes behind the one that was there before it. */
const anchorOf = (s: ShownSeg): string => (s.inserted ? s.inserted.after : String(s.number - 1));

function MissingField({ f, s, tools }: { f: Finding; s: ShownSeg; tools: Tools }) {
  return (
    <Group className="missing" gap="sm" justify="space-between">
      <Text size="sm" c="var(--fault)">
        {f.field_name || f.field}: {f.meaning || f.code}
      </Text>
      {!tools.readOnly && f.field && (
        <Button size="compact-sm" variant="light" data-fault onClick={() => tools.set({ op: "field", id: tools.newId(), seg: s.key, field: f.field!, value: "" })}>
          Add {f.field}
        </Button>
      )}
    </Group>
  );
}

function Foot({ s, tools }: { s: ShownSeg; tools: Tools }) {
  const [field, setField] = useState("");
  if (s.deleted) {
    return (
      <Button size="compact-xs" variant="default" leftSection={<IconArrowBackUp size={14} />} onClick={() => tools.drop({ op: "delete", seg: s.key })}>
        Keep the segment
      </Button>
    );
  }
  const last = Math.max(0, ...s.cells.map((c) => Number(c.key.split(".")[1])));
  return (
    <Group gap={6} mt={6}>
      {tools.rx ? (
        s.code !== "" && (
          <>
            <TextInput size="xs" w={80} aria-label={`Field to add to ${s.code}`} placeholder="D7" maxLength={2} value={field} onChange={(e) => setField(e.currentTarget.value.toUpperCase())} />
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconPlus size={14} />}
              disabled={!/^[0-9A-Z]{2}$/.test(field)}
              onClick={() => {
                tools.set({ op: "field", id: tools.newId(), seg: s.key, field, value: "" });
                setField("");
              }}
            >
              Add field
            </Button>
          </>
        )
      ) : (
        <>
          {!s.locked && !s.inserted && (
            <Button size="compact-xs" variant="default" leftSection={<IconPlus size={14} />} onClick={() => tools.set({ op: "set", cell: cellKey(s.key, last + 1), value: "" })}>
              {s.code}
              {String(last + 1).padStart(2, "0")}
            </Button>
          )}
          {(!s.locked || s.code === "ST") && !s.inserted && (
            <Button size="compact-xs" variant="default" leftSection={<IconPlus size={14} />} onClick={() => tools.set({ op: "insert", id: tools.newId(), after: s.key, text: "" })}>
              Segment behind it
            </Button>
          )}
        </>
      )}
      {!s.locked && (
        <Button size="compact-xs" variant="default" leftSection={<IconTrash size={14} />} onClick={() => (s.inserted ? tools.drop(s.inserted) : tools.set({ op: "delete", seg: s.key }))}>
          {s.inserted ? "Take it away" : "Delete the segment"}
        </Button>
      )}
    </Group>
  );
}
