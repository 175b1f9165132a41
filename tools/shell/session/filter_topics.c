/* filter_topics.c -- each filter: its arguments, what it lets through, an example.  See
 * tools/shell/session/topics.h. */
#include "tools/shell/session/topics.h"

#include "tools/shell/text/text.h"

static const struct filter_topic filters[] = {
    {"ColumnCountGetFilter", "limit", "the first so many columns of a row; for get",
     "get 't', 'r1', FILTER => \"ColumnCountGetFilter(1)\"", "ColumnCountGetFilter.new(1)"},
    {"ColumnPaginationFilter", "limit, offset", "so many columns of each row, behind the first few",
     "scan 't', FILTER => \"ColumnPaginationFilter(2, 1)\"", "ColumnPaginationFilter.new(2, 1)"},
    {"ColumnPrefixFilter", "'prefix'", "columns whose qualifier begins so",
     "scan 't', FILTER => \"ColumnPrefixFilter('a')\"",
     "ColumnPrefixFilter.new(Bytes.toBytes('a'))"},
    {"ColumnRangeFilter", "'from', inclusive, 'to', inclusive",
     "columns whose qualifier is in the range; '' is an open end",
     "scan 't', FILTER => \"ColumnRangeFilter('a', true, 'c', false)\"",
     "ColumnRangeFilter.new(Bytes.toBytes('a'), true, Bytes.toBytes('c'), false)"},
    {"ColumnValueFilter", "'family', 'qualifier', comparison, 'comparator'",
     "this one column, where its value compares so; nothing else of the row",
     "scan 't', FILTER => \"ColumnValueFilter('f', 'a', =, 'binary:v')\"",
     "ColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')"},
    {"DependentColumnFilter", "'family', 'qualifier' [, drop [, comparison, 'comparator']]",
     "cells whose timestamp is one of that column's, in rows that have it",
     "scan 't', FILTER => \"DependentColumnFilter('f', 'a')\"",
     "DependentColumnFilter.new('f', 'a')"},
    {"FamilyFilter", "comparison, 'comparator'", "columns of families that compare so",
     "scan 't', FILTER => \"FamilyFilter(=, 'binary:f')\"",
     "FamilyFilter.new(CompareOperator::EQUAL, BinaryComparator.new('f'))"},
    {"FirstKeyOnlyFilter", "", "the first cell of each row: enough for counting",
     "scan 't', FILTER => \"FirstKeyOnlyFilter()\"", "FirstKeyOnlyFilter.new"},
    {"InclusiveStopFilter", "'row'", "rows up to this one, and this one too",
     "scan 't', FILTER => \"InclusiveStopFilter('r2')\"", "InclusiveStopFilter.new('r2')"},
    {"KeyOnlyFilter", "[length as value]", "cells without their values, or with their lengths",
     "scan 't', FILTER => \"KeyOnlyFilter()\"", "KeyOnlyFilter.new"},
    {"MultipleColumnPrefixFilter", "'prefix', ..",
     "columns whose qualifier begins with one of them",
     "scan 't', FILTER => \"MultipleColumnPrefixFilter('a', 'b')\"",
     "MultipleColumnPrefixFilter.new(['a', 'b'])"},
    {"PageFilter", "rows", "the first so many rows", "scan 't', FILTER => \"PageFilter(2)\"",
     "PageFilter.new(2)"},
    {"PrefixFilter", "'prefix'", "rows that begin so; ROWPREFIXFILTER reads fewer blocks",
     "scan 't', FILTER => \"PrefixFilter('user1-')\"", "PrefixFilter.new(Bytes.toBytes('user1-'))"},
    {"QualifierFilter", "comparison, 'comparator'", "columns whose qualifier compares so",
     "scan 't', FILTER => \"QualifierFilter(>=, 'binary:b')\"",
     "QualifierFilter.new(CompareOperator::GREATER_OR_EQUAL, BinaryComparator.new('b'))"},
    {"RowFilter", "comparison, 'comparator'", "rows whose key compares so",
     "scan 't', FILTER => \"RowFilter(=, 'regexstring:^r[0-9]$')\"",
     "RowFilter.new(CompareOperator::EQUAL, RegexStringComparator.new('^r[0-9]$'))"},
    {"SingleColumnValueExcludeFilter",
     "'family', 'qualifier', comparison, 'comparator' [, if missing, latest only]",
     "as SingleColumnValueFilter, but without that column",
     "scan 't', FILTER => \"SingleColumnValueExcludeFilter('f', 'a', =, 'binary:v')\"",
     "SingleColumnValueExcludeFilter.new('f', 'a', CompareOperator::EQUAL, 'v')"},
    {"SingleColumnValueFilter",
     "'family', 'qualifier', comparison, 'comparator' [, if missing, latest only]",
     "whole rows in which that column compares so; a row without it passes unless the first of the "
     "last two is true; older versions count unless the last is true",
     "scan 't', FILTER => \"SingleColumnValueFilter('f', 'a', =, 'binary:v', true, true)\"",
     "SingleColumnValueFilter.new('f', 'a', CompareOperator::EQUAL, 'v')"},
    {"TimestampsFilter", "timestamp, ..", "cells with one of these timestamps",
     "scan 't', FILTER => \"TimestampsFilter(1000, 1500)\"", "TimestampsFilter.new([1000, 1500])"},
    {"ValueFilter", "comparison, 'comparator'", "cells whose value compares so",
     "scan 't', FILTER => \"ValueFilter(=, 'substring:v')\"",
     "ValueFilter.new(CompareOperator::EQUAL, SubstringComparator.new('v'))"},
};

const struct filter_topic *
help_filter(size_t index)
{
    return index < COUNT_OF(filters) ? &filters[index] : NULL;
}
