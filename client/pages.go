package client

import (
	"context"
	"iter"
)

// AllRecords goes through every record that matches, the newest first, page by page. It
// ends with the first error.
func (c *Client) AllRecords(ctx context.Context, q ListRecordsQuery) iter.Seq2[Record, error] {
	return pages(func() ([]Record, bool, error) {
		p, err := c.ListRecords(ctx, q)
		q.Cursor = p.NextCursor
		return p.Records, p.NextCursor != "", err
	})
}

// AllAudit goes likewise through the audit log.
func (c *Client) AllAudit(ctx context.Context, q ListAuditQuery) iter.Seq2[Entry, error] {
	return pages(func() ([]Entry, bool, error) {
		p, err := c.ListAudit(ctx, q)
		q.Cursor = p.NextCursor
		return p.Entries, p.NextCursor != "", err
	})
}

// AllRecipeItems goes likewise through the records of a recipe.
func (c *Client) AllRecipeItems(ctx context.Context, id string, q ListRecipeItemsQuery) iter.Seq2[RecipeItem, error] {
	return pages(func() ([]RecipeItem, bool, error) {
		p, err := c.ListRecipeItems(ctx, id, q)
		q.From = p.Next
		return p.Items, p.Next > 0, err
	})
}

// AllReplayItems goes likewise through the records of a replay job.
func (c *Client) AllReplayItems(ctx context.Context, id string, q ListReplayItemsQuery) iter.Seq2[Item, error] {
	return pages(func() ([]Item, bool, error) {
		p, err := c.ListReplayItems(ctx, id, q)
		q.From = p.Next
		return p.Items, p.Next > 0, err
	})
}

func pages[T any](next func() (page []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			var page []T
			var err error
			if page, more, err = next(); err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}
