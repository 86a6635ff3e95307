package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/correct"
	"claimdlq/internal/auth"
	"claimdlq/internal/recipe"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Rule is an edit of every interchange of a group: it names segments by what they are.
type Rule struct {
	Op        string      `json:"op" enum:"set,replace,delete,insert_after" doc:"replace: set, where the value is equals now. delete: an element; without one, the segment."`
	Loop      string      `json:"loop,omitempty" maxLength:"6" pattern:"^[0-9A-Z]{1,6}$" doc:"Such as 2010BB; left out for any."`
	Segment   string      `json:"segment" pattern:"^[A-Z][A-Z0-9]{1,2}$" doc:"Such as NM1."`
	Where     []RuleMatch `json:"where,omitempty" maxItems:"8" doc:"What else the segment has to have, such as element 1 85."`
	Element   int         `json:"element,omitempty" minimum:"1" maximum:"99"`
	Component int         `json:"component,omitempty" minimum:"1" maximum:"99"`
	Equals    string      `json:"equals,omitempty" maxLength:"10000"`
	Value     string      `json:"value,omitempty" maxLength:"10000"`
	Text      string      `json:"text,omitempty" maxLength:"10000" doc:"Of insert_after: a segment with * between elements and : between components."`
}

// RuleMatch is what an element is.
type RuleMatch struct {
	Element   int    `json:"element" minimum:"1" maximum:"99"`
	Component int    `json:"component,omitempty" minimum:"1" maximum:"99"`
	Value     string `json:"value" maxLength:"100"`
}

// RxRule is an edit of every pharmacy claim of a group.
type RxRule struct {
	Op      string `json:"op" enum:"set,replace,insert,delete" doc:"replace: set, where the value is equals now. insert and delete without a field: the segment."`
	Segment string `json:"segment,omitempty" pattern:"^[0-9]{2}$" doc:"Such as 07; left out for the header."`
	Field   string `json:"field,omitempty" pattern:"^[0-9A-Z]{2}$" doc:"Such as D7."`
	Equals  string `json:"equals,omitempty" maxLength:"10000"`
	Value   string `json:"value,omitempty" maxLength:"10000"`
}

type previewInput struct {
	Body struct {
		Because
		Which

		Before  uint64   `json:"before,omitempty" maximum:"9223372036854775807" doc:"Of a filter: the next of the preview before."`
		Again   bool     `json:"again,omitempty" doc:"Of a filter: what is corrected already, too. It stays quarantined under its cause until it is replayed."`
		Rules   []Rule   `json:"rules,omitempty" maxItems:"20" doc:"Of interchanges."`
		RxRules []RxRule `json:"rx_rules,omitempty" maxItems:"20" doc:"Of pharmacy claims."`
	}
}

func (in *previewInput) recipe() (rc correct.Recipe) {
	for i := range in.Body.Rules {
		u := &in.Body.Rules[i]
		x := x12.Rule{
			Op: u.Op, Loop: u.Loop, Segment: u.Segment, Element: u.Element, Component: u.Component, Equals: u.Equals, Value: u.Value, Text: u.Text,
		}
		for _, m := range u.Where {
			x.Where = append(x.Where, x12.Match(m))
		}
		rc.Rules = append(rc.Rules, x)
	}
	for _, u := range in.Body.RxRules {
		rc.RxRules = append(rc.RxRules, ncpdp.Rule(u))
	}
	return rc
}

// Recipe is the correction of a group: what was frozen and where it stands. What its
// rules set is not shown.
type Recipe struct {
	ID        string            `json:"id"`
	Seq       uint64            `json:"seq" doc:"Raised by all that happens."`
	State     string            `json:"state" enum:"previewed,running,stopped,cancelled,done" doc:"stopped: the store or the vault has failed; apply it again."`
	At        time.Time         `json:"at"`
	Author    string            `json:"author"`
	RuleOf    map[string]string `json:"rule_versions" doc:"That judged the preview, by stream."`
	Rules     []Rule            `json:"rules" doc:"Without their values."`
	RxRules   []RxRule          `json:"rx_rules"`
	Items     int               `json:"items"`
	Counts    map[string]int    `json:"counts" doc:"Items by verdict of the preview."`
	Claims    int64             `json:"claims" doc:"Of the items that are clean."`
	Cents     int64             `json:"cents"`
	Corrected int               `json:"corrected,omitempty" doc:"Of what the filter selected: left out, because they are corrected already and wait for a replay."`
	Remaining int               `json:"remaining,omitempty" doc:"Of what the filter selected: over the 10,000 of a recipe. Preview them with before."`
	Next      *uint64           `json:"next,omitempty" doc:"The before of the next preview; absent where nothing remains."`
	Digest    string            `json:"digest" doc:"SHA-256 of all of it, of every record and revision: send it back to apply."`
	Outcomes  map[string]int    `json:"outcomes" doc:"What became of those that had their turn."`
	Left      int               `json:"left" doc:"Clean ones that had not."`
	Runner    string            `json:"runner,omitempty"`
	StartedAt *time.Time        `json:"started_at,omitempty"`
	EndedAt   *time.Time        `json:"ended_at,omitempty"`
}

func toRecipe(p recipe.Plan, now recipe.Progress) Recipe {
	out := Recipe{
		ID: string(p.ID), Seq: now.Seq, State: string(now.State), At: p.At, Author: p.Author, RuleOf: p.Rules, Rules: []Rule{}, RxRules: []RxRule{},
		Items: now.Items, Counts: p.Counts, Claims: p.Claims, Cents: p.Cents, Digest: p.Digest, Outcomes: now.Outcomes, Left: now.Left,
		Corrected: p.Corrected, Remaining: p.Remaining, Runner: now.Runner, StartedAt: moment(now.StartedAt), EndedAt: moment(now.EndedAt),
	}
	if next := uint64(p.Next); next > 0 {
		out.Next = &next
	}
	for i := range p.Recipe.Rules {
		u := &p.Recipe.Rules[i]
		x := Rule{Op: u.Op, Loop: u.Loop, Segment: u.Segment, Element: u.Element, Component: u.Component}
		for _, m := range u.Where {
			x.Where = append(x.Where, RuleMatch(m))
		}
		out.Rules = append(out.Rules, x)
	}
	for _, u := range p.Recipe.RxRules {
		out.RxRules = append(out.RxRules, RxRule(u))
	}
	return out
}

type recipeOutput struct{ Body Recipe }

// RecipePath is the part of a request that says what it is about.
type RecipePath struct {
	ID string `path:"id" maxLength:"40"`
}

func (s *server) recipeOperations() {
	op := func(id, method, path string, perm auth.Permission, summary string) operation {
		return operation{id: id, method: method, path: path, tag: "recipes", perm: perm, summary: summary, command: method != http.MethodGet}
	}
	preview := op("preview-recipe", http.MethodPost, "/v1/recipes:preview", auth.RecordCorrect, "Freeze a correction of a group, and judge what it makes of each record; none is changed")
	preview.status, preview.body, preview.patience, preview.payload = http.StatusCreated, 2<<20, 10*time.Minute, true
	preview.about = sentences(
		"Of what a filter selects the newest 10,000 that are not corrected yet; remaining and next say what is left for another. Each document is opened, with its entry in the audit log before.",
		"What the rules set is sealed, is in no answer, and is removed once the recipe is done or cancelled.")
	add(s, preview, s.previewRecipe)
	add(s, op("list-recipes", http.MethodGet, "/v1/recipes", auth.RecordsRead, "Corrections of groups, the newest first"), s.listRecipes)
	add(s, op("get-recipe", http.MethodGet, "/v1/recipes/{id}", auth.RecordsRead, "A correction of a group: what was frozen, and where it stands"), s.getRecipe)
	add(s, op("list-recipe-items", http.MethodGet, "/v1/recipes/{id}/items", auth.RecordsRead, "The records of a recipe: where each would differ, by the form of the values, and what became of it"), s.listRecipeItems)
	apply := op("apply-recipe", http.MethodPost, "/v1/recipes/{id}/apply", auth.RecordCorrect, "Correct what was clean in the preview, behind the answer")
	apply.about = "Nothing is sent: the records stay quarantined until a replay, for which a second person is asked above the threshold: POST /v1/replays with the recipe's id."
	add(s, apply, s.applyRecipe)
	cancel := op("cancel-recipe", http.MethodPost, "/v1/recipes/{id}/cancel", auth.RecordCorrect, "End it for good: what is corrected stays so, the rest is left alone")
	cancel.about = "While it runs it ends with its turn, a moment later."
	add(s, cancel, s.cancelRecipe)
}

func (s *server) recipes() (*recipe.Recipes, error) {
	if s.o.Recipes == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "find recipe", Hint: "this process corrects no groups"}
	}
	return s.o.Recipes, nil
}

func (s *server) previewRecipe(ctx context.Context, in *previewInput) (*recipeOutput, error) {
	rs, err := s.recipes()
	if err != nil {
		return nil, err
	}
	if given(len(in.Body.IDs) > 0, in.Body.Filter != nil) != 1 {
		return nil, invalid("preview recipe", "body", "name records (ids), or select them (filter)")
	}
	p := who(ctx).For(in.Body.Reason)
	sel, err := s.which(ctx, p, &in.Body.Which, auth.RecordCorrect)
	if err != nil {
		return nil, err
	}
	rc := in.recipe()
	if !everything(p) && moves(&rc) {
		return nil, elsewhere("preview recipe")
	}
	plan, err := rs.Preview(ctx, p.By(), sel, recipe.Part{Before: claimdlq.ID(in.Body.Before), Again: in.Body.Again}, rc)
	if err != nil {
		return nil, err
	}
	plan, now, err := rs.Get(plan.ID)
	return &recipeOutput{toRecipe(plan, now)}, err
}

// moves reports whether a recipe may change whose claims are.
func moves(rc *correct.Recipe) bool {
	return slices.ContainsFunc(rc.RxRules, func(u ncpdp.Rule) bool { return u.Segment == "" })
}

// find returns a recipe for somebody who may do that to all of it; for others who may
// not see all of its partners there is none.
func (s *server) recipe(ctx context.Context, text string, perm auth.Permission, reason string) (recipe.ID, auth.Principal, error) {
	p := who(ctx).For(reason)
	rs, err := s.recipes()
	if err != nil {
		return "", p, err
	}
	id, err := recipe.ParseID(text)
	if err != nil {
		return "", p, missing("recipe", "")
	}
	partners, err := rs.Partners(id)
	if codeIs(err, claimdlq.NotFound) || err == nil && !coversAll(p, partners) {
		return "", p, missing("recipe", "")
	}
	for _, x := range partners {
		if err == nil {
			err = p.May(perm, x)
		}
	}
	return id, p, err
}

func coversAll(p auth.Principal, partners []string) bool {
	return everything(p) || !slices.ContainsFunc(partners, func(x string) bool { return !p.Covers(x) })
}

func (s *server) listRecipes(ctx context.Context, in *struct {
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"50"`
},
) (*struct {
	Body struct {
		Recipes []Recipe `json:"recipes"`
	}
}, error,
) {
	out := &struct {
		Body struct {
			Recipes []Recipe `json:"recipes"`
		}
	}{}
	out.Body.Recipes = []Recipe{}
	if s.o.Recipes == nil {
		return out, nil
	}
	for _, p := range s.o.Recipes.List() {
		if len(out.Body.Recipes) == in.Limit {
			break
		}
		partners, err := s.o.Recipes.Partners(p.Recipe)
		if err != nil || !coversAll(who(ctx), partners) {
			continue
		}
		if plan, now, err := s.o.Recipes.Get(p.Recipe); err == nil {
			out.Body.Recipes = append(out.Body.Recipes, toRecipe(plan, now))
		}
	}
	return out, nil
}

func (s *server) getRecipe(ctx context.Context, in *RecipePath) (*recipeOutput, error) {
	id, _, err := s.recipe(ctx, in.ID, auth.RecordsRead, "")
	if err != nil {
		return nil, err
	}
	plan, now, err := s.o.Recipes.Get(id)
	return &recipeOutput{toRecipe(plan, now)}, err
}

// RecipeItem is one record of a recipe with what became of it.
type RecipeItem struct {
	Index    int          `json:"index"`
	Record   uint64       `json:"record"`
	Revision uint32       `json:"revision" doc:"At which it is corrected, or not at all; 0: there was no such record."`
	Claims   uint32       `json:"claims"`
	Cents    int64        `json:"amount_cents"`
	Partner  string       `json:"partner,omitempty"`
	Verdict  string       `json:"verdict" enum:"clean,faulty,not_applicable,unchanged,not_correctable,not_found,failed" doc:"The preview's. faulty: the rules still do not pass it. not_applicable: no place in it is what the recipe is about. unchanged: it is so already."`
	Code     string       `json:"code,omitempty" doc:"Why it is faulty: the first."`
	Meaning  string       `json:"meaning,omitempty"`
	Places   []Difference `json:"differences" doc:"The first five, by the form of the values, 40 characters of it."`
	More     int          `json:"more_differences,omitempty"`
	Outcome  string       `json:"outcome,omitempty" enum:"applied,faulty,not_applicable,unchanged,not_correctable,moved,not_found,failed" doc:"Absent before its turn; moved: its revision was not the previewed one."`
	Why      string       `json:"outcome_code,omitempty"`
}

type recipeItemsInput struct {
	RecipePath

	From    int    `query:"from" minimum:"0" maximum:"10000" doc:"The next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Verdict string `query:"verdict" enum:"clean,faulty,not_applicable,unchanged,not_correctable,not_found,failed"`
	Outcome string `query:"outcome" enum:"applied,faulty,not_applicable,unchanged,not_correctable,moved,not_found,failed"`
}

type recipeItemsOutput struct {
	Body struct {
		Items []RecipeItem `json:"items"`
		Next  *int         `json:"next,omitempty" doc:"The from of the next page; absent at the end."`
	}
}

func (s *server) listRecipeItems(ctx context.Context, in *recipeItemsInput) (*recipeItemsOutput, error) {
	id, _, err := s.recipe(ctx, in.ID, auth.RecordsRead, "")
	if err != nil {
		return nil, err
	}
	items, next, err := s.o.Recipes.Items(id, recipe.ItemQuery{
		From: in.From, Limit: in.Limit, Verdict: correct.Verdict(in.Verdict), Outcome: correct.Verdict(in.Outcome),
	})
	if err != nil {
		return nil, err
	}
	out := &recipeItemsOutput{}
	out.Body.Items, out.Body.Next = page(items, next, toRecipeItem)
	return out, nil
}

func toRecipeItem(x *recipe.Item) RecipeItem {
	out := RecipeItem{
		Index: x.Index, Record: uint64(x.Record), Revision: x.Revision, Claims: x.Claims, Cents: x.Cents, Partner: x.Partner, Verdict: string(x.Verdict),
		Code: x.Code.String(), Meaning: classify.Words(x.Code), Places: []Difference{}, More: x.More, Outcome: string(x.Outcome), Why: x.OutcomeCode.String(),
	}
	for _, p := range x.Places {
		d := Difference{Place: placeX12(p.Segment, p.Element, p.Loop, p.Position), Kind: p.Kind, Before: p.Before, After: p.After}
		if p.Rx {
			d.Place = placeRx(p.Transaction, p.Segment, p.Element)
		}
		out.Places = append(out.Places, d)
	}
	return out
}

func (s *server) applyRecipe(ctx context.Context, in *struct {
	RecipePath

	Body struct {
		Because

		Digest string `json:"digest" pattern:"^[0-9a-f]{64}$" maxLength:"64" doc:"Of the recipe, as it was shown."`
	}
},
) (*recipeOutput, error) {
	id, p, err := s.recipe(ctx, in.ID, auth.RecordCorrect, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	plan, _, err := s.o.Recipes.Get(id)
	if err != nil {
		return nil, err
	}
	if in.Body.Digest != plan.Digest {
		return nil, moved("apply recipe", in.ID)
	}
	now, err := s.o.Recipes.Apply(ctx, p.By(), id, in.Body.Digest)
	if err != nil {
		return nil, err
	}
	return &recipeOutput{toRecipe(plan, now)}, nil
}

func (s *server) cancelRecipe(ctx context.Context, in *struct {
	RecipePath

	Body Because
},
) (*recipeOutput, error) {
	id, p, err := s.recipe(ctx, in.ID, auth.RecordCorrect, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	if _, err := s.o.Recipes.Cancel(ctx, p.By(), id); err != nil {
		return nil, err
	}
	plan, now, err := s.o.Recipes.Get(id)
	return &recipeOutput{toRecipe(plan, now)}, err
}

// corrected returns the records that a recipe has corrected, for somebody who may plan
// their replay.
func (s *server) corrected(ctx context.Context, p auth.Principal, text string) ([]claimdlq.ID, error) {
	id, _, err := s.recipe(ctx, text, auth.ReplayPlan, p.Reason)
	if err != nil {
		return nil, err
	}
	ids, err := s.o.Recipes.Corrected(id)
	if err == nil && len(ids) == 0 {
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "plan replay job", On: "recipe " + text, Hint: "it has corrected nothing"}
	}
	return ids, err
}
