import { Button, Grid, Group } from "@mantine/core";
import { type ComponentProps, type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import type { Schemas } from "@/api/client";
import { Beside, type Details } from "./Beside";
import { Empty } from "./Empty";
import { Failure } from "./Failure";
import { type Filter, meaningsOf, useFilter } from "./filter";
import { FilterBar } from "./FilterBar";
import { LoadingLines } from "./Loading";
import type { Which } from "./PlanAct";
import { type Column, nothing, RecordTable, type Selection } from "./RecordTable";
import { useGroups } from "./useGroups";
import { useRecordList } from "./useRecordList";
import { count } from "./words";

type Rec = Schemas["Record"];

/** The records of one state that wait for a person: who is chosen, and how a record is shown as it has become. */
export function useWorklist(state: NonNullable<Filter["state"]>) {
  const [given, change] = useFilter();
  const filter = useMemo<Filter>(() => ({ ...given, state }), [given, state]);
  const list = useRecordList(filter);
  const [selection, select] = useState<Selection>(nothing);
  useEffect(() => select(nothing), [list.key]);
  const { patch } = list;
  const moved = useCallback((r: Rec) => patch([r]), [patch]);
  // What has moved since stays in the list, and is not asked about.
  const open = list.rows.filter((r) => r.state === state);
  const picked = selection.all ? open : open.filter((r) => selection.ids.has(r.id));
  return { state, given, filter, change, list, selection, select, moved, open, picked };
}

export interface Chosen {
  which: Which;
  n?: number;
}

type Work = ReturnType<typeof useWorklist>;

/** Whether nothing is picked one by one: then all that the filter has are meant, also those that are not read yet. */
const whole = (w: Work): boolean => w.selection.all || w.picked.length === 0;

/** What an act on the chosen ones is about. */
export function chosen(w: Work): Chosen {
  if (whole(w)) return { which: { filter: w.filter as Schemas["WhichMatch"] }, n: w.list.total };
  return { which: { ids: w.picked.map((r) => r.id) } };
}

/** The chosen ones, in the words of a button. */
export function sayChosen(w: Work): string {
  if (!whole(w)) return count(w.picked.length);
  return w.list.total === undefined ? "all" : `all ${count(w.list.total)}`;
}

interface Props {
  work: Work;
  label: string;
  filters: ComponentProps<typeof FilterBar>["show"];
  show: string[];
  extra: Column[];
  selectable?: boolean;
  /** What stands where there are none: of the page, and of a filter. */
  none: { title: string; text: string; all: string };
  /** Buttons for all, or for the chosen ones. */
  actions: ReactNode;
  /** What there is to say of the line one is on, and to do about it. */
  children: (d: Details) => ReactNode;
}

/** A list to be worked off, with all about the line one is on beside it. */
export function Worklist({ work: w, label, filters, show, extra, selectable = true, none, actions, children }: Props) {
  const [path, go] = useLocation();
  const { list } = w;
  const groups = useGroups().data?.groups;
  const own = useMemo(() => (groups ?? []).filter((g) => g.state === w.state), [groups, w.state]);
  const meanings = useMemo(() => meaningsOf(groups ?? []), [groups]);
  const [on, setOn] = useState<number | null>(null);
  const filtered = Object.keys(w.given).length > 0;
  if (!list.ready) return list.error === null ? <LoadingLines lines={8} /> : <Failure error={list.error} onRetry={list.reload} />;
  const any = list.rows.length > 0;
  return (
    <>
      {any && (
        <Group justify="space-between" align="flex-end">
          <FilterBar filter={w.given} onChange={w.change} groups={own} show={filters} />
          <Group gap="xs">
            {list.fresh > 0 && (
              <Button size="compact-sm" radius="xl" variant="light" onClick={list.reload}>
                {count(list.fresh)} new
              </Button>
            )}
            {actions}
          </Group>
        </Group>
      )}
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: any ? 7 : 12 }}>
          <RecordTable
            list={list}
            label={label}
            show={show}
            extra={extra}
            meanings={meanings}
            selection={selectable ? w.selection : undefined}
            onSelect={selectable ? w.select : undefined}
            onOpen={(r) => go(`/records/${r.id}`)}
            onActive={(r) => setOn(r.id)}
            empty={
              <Empty title={filtered ? "None is like that" : none.title}>
                {filtered ? (
                  <Button size="compact-sm" variant="subtle" onClick={() => go(path)}>
                    {none.all}
                  </Button>
                ) : (
                  none.text
                )}
              </Empty>
            }
          />
        </Grid.Col>
        {any && (
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Beside id={on} onRead={w.moved}>
              {children}
            </Beside>
          </Grid.Col>
        )}
      </Grid>
    </>
  );
}
