# Writes FAILURE_SITE around the name of each function by which the library asks for a file call or memory, and which may fail; see
# failure_site.h. What begins a line defines such a function; the files that do are not run through this.
s/(^|[^A-Za-z0-9_])((([A-Za-z_][A-Za-z0-9_]*)(->|\.))*vfs->[a-z_]+)\(/\1FAILURE_SITE(\2)(/g
s/FAILURE_SITE\(([^)]*->(read_ahead|unmap|close_directory))\)/\1/g
/^[a-z]/!s/(^|[^A-Za-z0-9_])(directory_(open|open_file|rename|link|remove|sync|sync_parent|contains|free_bytes|list))\(/\1FAILURE_SITE(\2)(/g
/^[a-z]/!s/(^|[^A-Za-z0-9_])(mem_(alloc|zalloc|alloc_aligned|zalloc_aligned|alloc_pages|grow|grow_array))\(/\1FAILURE_SITE(\2)(/g
