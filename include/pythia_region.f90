! SPDX-License-Identifier: MIT
!
! Names of the program's own, in Fortran (pythia_region.h says more). Compile this file with the program; there is
! nothing to link, and without Pythia a begin or an end does nothing.
!
!     use pythia_region
!     call pythia_region_begin('solve')
!     …
!     call pythia_region_end('solve')
!
! Threads: any, once one has begun or ended a region.
module pythia_region
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: pythia_region_begin, pythia_region_end

  abstract interface
     subroutine region_call(name) bind(c)
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine region_call
  end interface

  interface
     function find_symbol(handle, name) bind(c, name='dlsym') result(address)
       import :: c_ptr, c_funptr, c_char
       type(c_ptr), value :: handle
       character(kind=c_char), intent(in) :: name(*)
       type(c_funptr) :: address
     end function find_symbol
  end interface

  procedure(region_call), pointer :: begins => null(), ends => null()
  logical :: looked = .false.

contains

  ! RTLD_DEFAULT is the null pointer.
  subroutine look()
    type(c_funptr) :: first, last
    first = find_symbol(c_null_ptr, 'pythia_region_begin' // c_null_char)
    last = find_symbol(c_null_ptr, 'pythia_region_end' // c_null_char)
    if (c_associated(first)) call c_f_procpointer(first, begins)
    if (c_associated(last)) call c_f_procpointer(last, ends)
    looked = .true.
  end subroutine look

  subroutine pythia_region_begin(name)
    character(len=*), intent(in) :: name
    if (.not. looked) call look()
    if (associated(begins)) call begins(trim(name) // c_null_char)
  end subroutine pythia_region_begin

  subroutine pythia_region_end(name)
    character(len=*), intent(in) :: name
    if (.not. looked) call look()
    if (associated(ends)) call ends(trim(name) // c_null_char)
  end subroutine pythia_region_end

end module pythia_region
