import { Button, Checkbox, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconArrowUp, IconColumns } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { useSession } from "@/app/session";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { format, meaningsOf, useFilter } from "@/parts/filter";
import { FilterBar } from "@/parts/FilterBar";
import { LoadingLines } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { Popup } from "@/parts/Popup";
import { columns, nothing, RecordTable, type Selection } from "@/parts/RecordTable";
import { useGroups } from "@/parts/useGroups";
import { useRecordList } from "@/parts/useRecordList";
import { count, many } from "@/parts/words";
import { Acts } from "./records/Acts";
import { Find } from "./records/Find";
import { isNames, useKept } from "./records/views";
import { Views } from "./records/Views";

const standard = ["id", "state", "cause", "claims", "amount", "partner", "attempts", "replays", "age"];

export default function Records() {
  const [, go] = useLocation();
  const [filter, change] = useFilter();
  const list = useRecordList(filter);
  const groups = useGroups(filter).data?.groups;
  const meanings = useMemo(() => meaningsOf(groups ?? []), [groups]);
  const [show, setShow] = useKept<string[]>("claimdlq.columns", standard, isNames);
  const [selection, select] = useState<Selection>(nothing);
  useEffect(() => select(nothing), [list.key]);
  const total = list.total;
  const { may } = useSession();
  const acts = ["replay.run", "replay.plan", "record.park"].some(may);
  return (
    <Page
      title="Records"
      about={
        <span role="status">
          {total !== undefined ? many(total, "record") : list.rows.length > 0 ? `${count(list.rows.length)} read so far` : ""}
          {list.rows.length > 0 && ", the newest first"}
        </span>
      }
      actions={
        <>
          <Find />
          <Views query={format(filter)} />
          <Columns show={show} onChange={setShow} />
        </>
      }
    >
      <FilterBar filter={filter} onChange={change} groups={groups} show={["state", "reason", "detail", "partner", "stream", "older_than"]} more />
      {list.fresh > 0 && (
        <Group>
          <Button size="compact-sm" radius="xl" leftSection={<IconArrowUp size={14} aria-hidden />} onClick={list.reload}>
            {list.fresh >= 100 ? "100 or more" : count(list.fresh)} new
          </Button>
        </Group>
      )}
      <VisuallyHidden role="status">{list.fresh > 0 ? `${many(list.fresh, "new record")}, not shown yet` : ""}</VisuallyHidden>
      {acts && <Acts list={list} filter={filter} selection={selection} onSelect={select} />}
      {!list.ready && list.error === null && <LoadingLines lines={12} height={26} />}
      {!list.ready && list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.ready && (
        <RecordTable
          list={list}
          label="Records"
          show={show}
          meanings={meanings}
          selection={acts ? selection : undefined}
          onSelect={acts ? select : undefined}
          onOpen={(r) => go(`/records/${r.id}`)}
          empty={
            <Empty title={Object.keys(filter).length > 0 ? "Nothing matches" : "There are no records yet"}>
              {Object.keys(filter).length > 0 ? (
                <>
                  No record is like that now.{" "}
                  <Button size="compact-sm" variant="subtle" onClick={() => go("/records")}>
                    Show all
                  </Button>
                </>
              ) : (
                "They appear here as claims come in."
              )}
            </Empty>
          }
        />
      )}
    </Page>
  );
}

function Columns({ show, onChange }: { show: string[]; onChange: (v: string[]) => void }) {
  return (
    <Popup
      label="Columns"
      button={
        <Button size="xs" variant="default" leftSection={<IconColumns size={14} aria-hidden />}>
          Columns
        </Button>
      }
    >
      <Stack gap={10} p={8}>
        {columns.map((c) => (
          <Checkbox
            key={c.key}
            size="xs"
            label={c.label}
            checked={show.includes(c.key)}
            disabled={c.key === "id"}
            onChange={(e) => {
              const on = e.currentTarget.checked;
              onChange(columns.map((x) => x.key).filter((k) => (k === c.key ? on : show.includes(k))));
            }}
          />
        ))}
        <Button size="compact-xs" variant="subtle" onClick={() => onChange(standard)}>
          As it was
        </Button>
        <Text size="xs" c="dimmed">
          Kept in this browser
        </Text>
      </Stack>
    </Popup>
  );
}
